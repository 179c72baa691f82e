"""What a trainer is told: by the plans, by the training it resumes, by the environment."""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import partial
from typing import Any, Self

from gradsurge.losses import LOSSES
from gradsurge.losses.strength import FOR_SGD, PAPER, RULE
from gradsurge.surgery.rule import Normalise

PREFIX = "GRADSURGE_"
PLAN_ENTRY = "gradsurge"
_EXAMPLE = '{"hard_statistics": true}'
NNUNETS_OWN = "nnunet"  # the loss that nnU-Net itself would take


@dataclass(frozen=True)
class TrainerSettings:
    """Settings of a training; None leaves a number to nnU-Net.

    Attributes:
        loss: one of `gradsurge.losses.LOSSES`, or "nnunet" for nnU-Net's own loss; trainers differ
            in their default.
        decline: exponent of the surgery's decline; None for no decline.
        scale: factor of the surgery.
        normalise: whether rare structures pull as hard as large ones, as of `SurgeryRule`.
        loss_options: further options of the loss, as of `make_loss`.
        surgery_start: fraction of the epochs that are trained with the plain gradient before.
        epochs: how many.
        iterations: training steps of an epoch.
        validation_iterations: validation steps of an epoch.
        save_every: epochs between two checkpoints to resume from.
        learning_rate: the first one; nnU-Net lowers it to 0 by its polynomial rule.
        start_from: checkpoint of nnU-Net whose weights, segmentation layers included, are the
            first ones; or the folder of a trained model: then that of the same fold.
    """

    loss: str = "ce+dice-surgery"
    decline: float | None = FOR_SGD["decline"]
    scale: float = FOR_SGD["scale"]
    normalise: Normalise = FOR_SGD["normalise"]
    loss_options: Mapping[str, Any] = field(default_factory=dict)
    surgery_start: float = 0.0
    epochs: int | None = None
    iterations: int | None = None
    validation_iterations: int | None = None
    save_every: int | None = None
    learning_rate: float | None = None
    start_from: str | None = None

    @classmethod
    def merged(cls, *sources: tuple[str, Mapping[str, Any]]) -> Self:
        """Return the settings of several sources, each a name for errors and values; later win.

        Raises:
            ValueError: a source has an unknown name or an impossible value.
        """
        known = {f.name for f in fields(cls)}
        values: dict[str, Any] = {}
        for source, given in sources:
            if not isinstance(given, Mapping):
                raise ValueError(f"{source}: expected names and values, got {given!r}")
            for name, value in given.items():
                where = f"{source}{name.upper()}" if source == PREFIX else f"{source}: {name}"
                if name not in known:
                    raise ValueError(f"{where}: unknown; known: {', '.join(sorted(known))}")
                values[name] = _CHECKS[name](where, value)
        return cls(**values)

    @property
    def surgical(self) -> bool:
        """Whether the loss has a surgery."""
        return self.loss.endswith("-surgery")

    def blend(self, epoch: int, epochs: int) -> float:
        """Return the share of surgery in an epoch, from 0 on, of so many.

        >>> [TrainerSettings(surgery_start=0.6).blend(e, 10) for e in (0, 5, 6, 9)]
        [0.0, 0.0, 1.0, 1.0]
        """
        # 0.6 · 10 is 6, whatever floats make of it. Rounded down: the last epoch is surgical.
        return float(epoch >= math.floor(round(self.surgery_start * epochs, 9)))

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def of_any_version(found: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return stored settings as they were meant: without normalise, the paper's strength.

    >>> of_any_version({"decline": 40})
    {'decline': 40, 'scale': 0.25, 'normalise': False}
    """
    if "normalise" in found or not {"decline", "scale"} & found.keys():
        return found
    return {**{name: PAPER[name] for name in RULE}, **found}


def from_environment(environment: Mapping[str, str]) -> tuple[dict[str, Any], list[str]]:
    """Return the settings that variables GRADSURGE_... name, and variables that name none.

    >>> from_environment({"GRADSURGE_DECLINE": "40", "GRADSURGE_DECLIN": "4", "HOME": "/"})
    ({'decline': 40}, ['GRADSURGE_DECLIN'])
    """
    known = {f"{PREFIX}{f.name.upper()}": f.name for f in fields(TrainerSettings)}
    found = {
        name: _parsed(environment[variable].strip())
        for variable, name in known.items()
        if environment.get(variable, "").strip()
    }
    unknown = [v for v in environment if v.startswith(PREFIX) and v not in known]
    return found, sorted(v for v in unknown if not v.startswith(f"{PREFIX}NNUNET_"))


def _parsed(text: str) -> Any:
    if text.lower() == "none":
        return None
    for read in (partial(json.loads, parse_constant=str), float):  # JSON has no ".25"
        try:
            return read(text)
        except ValueError:
            continue
    return text


def _loss(where: str, value: Any) -> str:
    if value not in (*LOSSES, NNUNETS_OWN):
        raise ValueError(
            f"{where}: expected {NNUNETS_OWN} or one of {', '.join(LOSSES)}; got {value!r}"
        )
    return str(value)


def _number(
    low: float, high: float, *, none: str = "", low_too: bool = False
) -> Callable[..., Any]:
    """Return a check for a number above ``low`` and below ``high``; ``none`` says what None is."""

    def check(where: str, value: Any) -> float | None:
        if value is None and none:
            return None
        right = isinstance(value, int | float) and not isinstance(value, bool)
        if not right or not (low < value < high or (low_too and value == low)):
            ends = f"from {low:g}" if low_too else f"above {low:g}"
            ends += "" if math.isinf(high) else f" and below {high:g}"
            other = f", or none ({none})" if none else ""
            raise ValueError(f"{where}: expected a number {ends}{other}; got {value!r}")
        return float(value)

    return check


def _count(where: str, value: Any) -> int | None:
    if value is None:
        return None
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError(f"{where}: expected a whole number from 1 on; got {value!r}")
    return value


def _normalise(where: str, value: Any) -> Any:
    if not isinstance(value, bool) and value != "batch":
        raise ValueError(f"{where}: expected true, false or batch; got {value!r}")
    return value


def _options(where: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError(f"{where}: expected JSON such as {_EXAMPLE}; got {value!r}")
    taken = sorted({*RULE, "optimiser", "paper"} & set(value))
    if taken:
        raise ValueError(
            f"{where}: {taken[0]} has a setting of its own, or stands for some that have; give "
            f"decline, scale and normalise (the paper's are 20, 0.25 and false)"
        )
    return dict(value)


def _file(where: str, value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{where}: expected the path of a checkpoint or model; got {value!r}")
    return value


_CHECKS: dict[str, Callable[[str, Any], Any]] = {
    "loss": _loss,
    "decline": _number(0.0, math.inf, none="no decline"),
    "scale": _number(0.0, math.inf),
    "normalise": _normalise,
    "loss_options": _options,
    "surgery_start": _number(0.0, 1.0, low_too=True),
    "epochs": _count,
    "iterations": _count,
    "validation_iterations": _count,
    "save_every": _count,
    "learning_rate": _number(0.0, math.inf, none="nnU-Net's own"),
    "start_from": _file,
}
