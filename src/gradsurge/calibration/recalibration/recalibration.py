"""What every recalibration is: a map from a model's outputs to probabilities, and its origin."""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, fields
from os import PathLike
from typing import Any, ClassVar, Self

import torch
from torch import Tensor

from gradsurge.calibration import inputs
from gradsurge.calibration.recalibration import recalibration_file
from gradsurge.calibration.recalibration.blocks import (
    Values,
    blockwise,
    channel_axis_of,
    check_block,
    shape_of,
)
from gradsurge.calibration.sketch import KINDS, Kind


@dataclass(frozen=True, kw_only=True)
class Recalibration(ABC):
    """A recalibration that was fitted, loaded, or made from a trained loss.

    Both `apply_probabilities` and `apply_logits` return probabilities, and both follow one rule
    for shapes. ``channel_axis`` is the axis of the channels. If it is left out, a binary
    recalibration takes the foreground alone, of any shape, and the others (N, C, *S), as a sketch
    does. If it is given, a binary recalibration finds the foreground there, alone or after the
    background, and returns as many channels.

    Attributes:
        kind, classes: as those of the sketch it was fitted on.
        fitted_on: what it was fitted on, in words.
        voxels: how many voxels that were.
        at_bound: whether a parameter stopped at its bound.
        note: what a user must know about the fit; None if it went as it should.
    """

    kind: Kind
    classes: int
    fitted_on: str = ""
    voxels: int = 0
    at_bound: bool = False
    note: str | None = None
    method: ClassVar[str]
    flat: ClassVar[bool] = False  # whether different probabilities may become the same

    def __post_init__(self) -> None:
        """Refuse what cannot be: also the gate for files."""
        fewest = 1 if self.kind == "multilabel" else 2
        if self.kind not in KINDS or (self.kind == "binary" and self.classes != 2):
            raise ValueError(f"kind and classes: got {self.kind!r} of {self.classes!r} classes")
        if self.classes < fewest or self.voxels < 0:
            raise ValueError(f"classes and voxels: got {self.classes} and {self.voxels}")
        self._check_parameters()
        for field in fields(self):
            if not all(map(math.isfinite, _numbers(value := getattr(self, field.name)))):
                raise ValueError(f"{field.name}: expected finite numbers, got {value}")

    @property
    def channels(self) -> int:
        """Number of maps: one for the foreground of a binary recalibration."""
        return 1 if self.kind == "binary" else self.classes

    def apply_probabilities(self, probabilities: Values, channel_axis: int | None = None) -> Values:
        """Return recalibrated probabilities of probabilities in [0, 1]."""
        name = "probabilities"
        axis = channel_axis_of(
            name, shape_of(name, probabilities), channel_axis, self.kind, self.classes
        )

        def transform(p: Tensor) -> Tensor:
            check_block(name, p, 0.0, 1.0)
            if self.kind != "multilabel" and len(p) > 1:
                inputs.check_sums(p)
            if self.kind != "binary":
                return self._from_probabilities(p)
            return _as_many(self._from_probabilities(p[-1:]), len(p))

        return blockwise(name, probabilities, axis, transform)

    def apply_logits(self, logits: Values, channel_axis: int | None = None) -> Values:
        """Return recalibrated probabilities of a network's outputs before softmax or sigmoid."""
        name = "logits"
        axis = channel_axis_of(name, shape_of(name, logits), channel_axis, self.kind, self.classes)

        def transform(z: Tensor) -> Tensor:
            check_block(name, z, -math.inf, math.inf)
            if self.kind != "binary":
                return self._from_logits(z)
            gap = z[1:] - z[:1] if len(z) == 2 else z
            return _as_many(self._from_logits(gap), len(z))

        return blockwise(name, logits, axis, transform)

    def save(self, file: str | PathLike[str]) -> None:
        """Write a JSON file; a reader never sees half of it."""
        facts = {name: getattr(self, name) for name in recalibration_file.FACTS}
        recalibration_file.write(file, self.method, facts, self.parameters)

    @property
    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """What was fitted, as it stands in the file: plain numbers and lists."""

    @classmethod
    @abstractmethod
    def from_parameters(cls, parameters: dict[str, Any], **facts: Any) -> Self:
        """Return the recalibration with these ``parameters``, kind, classes and origin."""

    @abstractmethod
    def _check_parameters(self) -> None:
        """Raise ValueError unless the parameters fit kind and classes."""

    @abstractmethod
    def _from_probabilities(self, p: Tensor) -> Tensor:
        """Map a block (channels, V) of probabilities."""

    @abstractmethod
    def _from_logits(self, z: Tensor) -> Tensor:
        """Map a block (channels, V) of logits; binary: that of the foreground."""


def _numbers(value: object) -> Iterator[float]:
    """Yield the numbers of nested tuples, as parameters are."""
    if isinstance(value, tuple):
        for part in value:
            yield from _numbers(part)
    elif isinstance(value, float):
        yield value


def _as_many(foreground: Tensor, channels: int) -> Tensor:
    return foreground if channels == 1 else torch.cat((1.0 - foreground, foreground))
