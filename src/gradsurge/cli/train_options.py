"""Turning what was typed after ``gradsurge train`` into a request; mistakes are usage errors."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from gradsurge.experiments.runs import RunRequest, SurgerySchedule

# Typed name -> field of TrainSettings; what was not typed is left to the preset.
_TRAINING = {
    "steps": "steps",
    "seed": "seed",
    "optimiser": "optimiser",
    "learning_rate": "learning_rate",
    "weight_decay": "weight_decay",
    "momentum": "momentum",
    "warmup": "warmup",
    "accumulate": "accumulate",
    "ema": "ema",
    "precision": "precision",
    "validate_every": "validate_every",
    "checkpoint_every": "checkpoint_every",
}
_PATCHES = ("batch", "oversample", "patches_per_case")


def request_of(typed: Mapping[str, Any]) -> "RunRequest":
    """Return the request of what was typed.

    Raises:
        ValueError: it cannot be; one line that names the option.
        typer.BadParameter: it is of no use at all, whatever the store.
    """
    from gradsurge.experiments.runs import RunRequest
    from gradsurge.experiments.runs.option_values import parse_options

    _check_names(typed)
    model_options = parse_options("--model-option", typed["model_option"] or [])
    if typed["deep_supervision"]:
        model_options["deep_supervision"] = True
    training = {field: typed[name] for name, field in _TRAINING.items() if typed[name] is not None}
    # Flags that were not set are left to the preset, as all else.
    training |= {"compile": True} if typed["compile_model"] else {}
    training |= {"deterministic": False} if typed["any_order"] else {}
    if typed["clip"] is not None:
        training["clip"] = typed["clip"] or None
    return RunRequest(
        loss=typed["loss"],
        loss_options=parse_options("--loss-option", typed["loss_option"] or []),
        preset=typed["preset"],
        model=typed["model"],
        model_options=model_options,
        patch=_parse_patch(typed["patch"]),
        patches={name: typed[name] for name in _PATCHES if typed[name] is not None},
        augmentation=typed["augmentation"],
        training=training,
        surgery=_schedule(typed["surgery_start"], typed["surgery_ramp"]),
        validation_cases=typed["validation_cases"],
        init=typed["init"],
    )


def _check_names(typed: Mapping[str, Any]) -> None:
    from gradsurge.losses import LOSSES
    from gradsurge.models import MODELS

    for option, known in (("loss", LOSSES), ("model", MODELS)):
        if typed[option] is not None and typed[option] not in known:
            raise typer.BadParameter(
                f"--{option}: unknown {typed[option]!r}; known: {', '.join(known)}"
            )


def _parse_patch(text: str | None) -> tuple[int, ...] | None:
    if text is None:
        return None
    try:
        size = tuple(int(n) for n in text.replace("x", ",").split(","))
    except ValueError:
        size = ()
    if len(size) not in (2, 3) or min(size) < 1:
        raise typer.BadParameter(
            f"--patch: expected two or three sizes like 64,64,32, got {text!r}"
        )
    return size


def _schedule(start: float | None, ramp: tuple[float, float] | None) -> "SurgerySchedule":
    from gradsurge.experiments.runs import SurgerySchedule

    if start is not None and ramp is not None:
        raise typer.BadParameter("--surgery-start and --surgery-ramp: give one of the two")
    if ramp is not None:
        return SurgerySchedule(*ramp)
    return SurgerySchedule() if start is None else SurgerySchedule(start, start)
