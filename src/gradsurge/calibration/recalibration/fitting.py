"""What the fits of all methods share: a check of the sketch, and the facts of several channels."""

from collections.abc import Iterable
from typing import Any, Protocol

from gradsurge.calibration.sketch import CalibrationSketch


class ChannelFit(Protocol):
    """The part of a channel's fit that becomes part of the origin."""

    @property
    def note(self) -> str | None:
        """What a user must know."""

    @property
    def at_bound(self) -> bool:
        """Whether a parameter stopped at its bound."""


def origin(
    sketch: CalibrationSketch, fitted_on: str, channels: Iterable[ChannelFit]
) -> dict[str, Any]:
    """Return the facts of a recalibration that was fitted on a sketch, the notes joined."""
    channels = list(channels)
    word = {"binary": "", "multiclass": "class {}: ", "multilabel": "channel {}: "}[sketch.kind]
    several = len(channels) > 1
    notes = [
        (word.format(k) if several else "") + fit.note
        for k, fit in enumerate(channels)
        if fit.note is not None
    ]
    return {
        "kind": sketch.kind,
        "classes": sketch.classes,
        "fitted_on": fitted_on,
        "voxels": sketch.voxels,
        "at_bound": any(fit.at_bound for fit in channels),
        "note": "; ".join(notes) or None,
    }


def check_filled(sketch: CalibrationSketch) -> None:
    """Refuse what is no sketch, and a sketch without voxels."""
    if not isinstance(sketch, CalibrationSketch):
        raise TypeError(f"sketch: expected a CalibrationSketch, got {type(sketch).__name__}")
    if not sketch.voxels:
        raise ValueError("sketch: expected voxels to fit on, got an empty sketch; update it first")
