"""How a training runs: everything that is neither model, loss nor data."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, Self, get_args

Optimiser = Literal["sgd", "adamw"]
Precision = Literal["32-true", "16-mixed", "bf16-mixed", "auto"]


@dataclass(frozen=True)
class TrainSettings:
    """How a training runs.

    The defaults are nnU-Net's. For Primus: "adamw", learning rate 3e-4, weight decay 5e-2, betas
    (0.9, 0.98), some warm-up and clip 1.

    Attributes:
        steps: of the optimiser.
        seed: of everything random while training; see `gradsurge.training.randomness`.
        optimiser: "sgd" (with Nesterov momentum) or "adamw".
        learning_rate: the highest, reached after the warm-up.
        weight_decay: of all parameters for SGD, as in nnU-Net; of those with two or more axes for
            AdamW: norms, biases and layer scales are left alone.
        momentum: of SGD.
        betas: of AdamW.
        warmup: steps over which the learning rate rises linearly.
        power: of the polynomial by which it then falls.
        clip: longest gradient; None for any length.
        accumulate: batches whose mean gradient makes a step.
        precision: "32-true", "16-mixed", "bf16-mixed", or "auto", the fastest the device has.
        compile: the model, by torch.compile; other bits than without.
        deterministic: same seed, same bits; on a GPU this costs speed. See
            `gradsurge.training.randomness`.
        ema: share of the old in the moving average of the weights, as 0.999; None for no average.
        validate_every: steps; the end is validated, too.
        checkpoint_every: steps; the end and every validation are kept, too.
    """

    steps: int
    seed: int = 0
    optimiser: Optimiser = "sgd"
    learning_rate: float = 1e-2
    weight_decay: float = 3e-5
    momentum: float = 0.99
    betas: tuple[float, float] = (0.9, 0.999)
    warmup: int = 0
    power: float = 0.9
    clip: float | None = 12.0
    accumulate: int = 1
    precision: Precision = "32-true"
    compile: bool = False
    deterministic: bool = True
    ema: float | None = None
    validate_every: int = 250
    checkpoint_every: int = 250

    def __post_init__(self) -> None:
        for name in ("steps", "accumulate", "validate_every", "checkpoint_every"):
            _check_whole(name, getattr(self, name), 1)
        for name in ("seed", "warmup"):
            _check_whole(name, getattr(self, name), 0)
        if self.seed >= 2**64:  # torch takes no more
            raise ValueError(f"seed: expected a whole number below 2^64, got {self.seed}")
        for name, known in (("optimiser", Optimiser), ("precision", Precision)):
            _check_choice(name, getattr(self, name), get_args(known))
        for name in ("compile", "deterministic"):
            _check_choice(name, getattr(self, name), (True, False))
        for name in ("learning_rate", "weight_decay", "power", "clip"):
            _check_number(name, getattr(self, name), zero=name in ("weight_decay", "power"))
        if len(self.betas) != 2:
            raise ValueError(f"betas: expected two shares, got {self.betas!r}")
        for name, share in (
            ("momentum", self.momentum),
            ("ema", self.ema),
            *(("betas", beta) for beta in self.betas),
        ):
            _check_share(name, share)
        if self.warmup >= self.steps:
            raise ValueError(
                f"warmup: expected fewer than the {self.steps} steps, got {self.warmup}"
            )

    def to_json(self) -> dict[str, Any]:
        """Return the settings as plain values.

        >>> TrainSettings(steps=10).to_json()["betas"]
        [0.9, 0.999]
        """
        return asdict(self) | {"betas": list(self.betas)}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """Return the settings that `to_json` wrote.

        Raises:
            ValueError: they are not complete, or out of range.
        """
        known = {field.name for field in fields(cls)}
        if strange := sorted(stored.keys() ^ known):
            raise ValueError(f"settings: missing or unknown: {', '.join(map(str, strange))}")
        betas = stored["betas"]
        if not isinstance(betas, list | tuple):
            raise ValueError(f"betas: expected two shares, got {betas!r}")
        return cls(**{**stored, "betas": tuple(betas)})


def _check_whole(name: str, value: object, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name}: expected a whole number of {least} or above, got {value!r}")


def _check_choice(name: str, value: object, known: tuple[object, ...]) -> None:
    if not isinstance(value, type(known[0])) or value not in known:
        listed = ", ".join(map(str, known))
        raise ValueError(f"{name}: expected one of {listed}; got {value!r}")


def _check_number(name: str, value: object, *, zero: bool) -> None:
    if name == "clip" and value is None:
        return
    fine = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not fine or not (value >= 0 if zero else value > 0):  # type: ignore[operator]
        wanted = "of 0 or above" if zero else "above 0"
        raise ValueError(f"{name}: expected a number {wanted}, got {value!r}")


def _check_share(name: str, value: object) -> None:
    if name == "ema" and value is None:
        return
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < 1:
        raise ValueError(f"{name}: expected a number from 0 to below 1, got {value!r}")
