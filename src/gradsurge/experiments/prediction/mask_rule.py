"""Which hard mask belongs to a task."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gradsurge.data.store import DatasetFile
from gradsurge.experiments.prediction.hard_mask import (
    HardMask,
    LikeliestClass,
    PaintedMask,
    ThresholdedClass,
)
from gradsurge.experiments.runs.task import Task

_HALF = 0.5


@dataclass(frozen=True)
class MaskRule:
    """How the mask of a case is decided, from uncorrected probabilities on the source's grid.

    Attributes:
        task: what the probabilities are.
        thresholds: one a foreground class or region; None for the likeliest class.
        numbers: the class number each foreground class or region gets.
    """

    task: Task
    thresholds: tuple[float, ...] | None
    numbers: tuple[int, ...]

    def new_mask(self, shape: Sequence[int]) -> HardMask:
        """Return an empty mask (*S)."""
        if self.task.kind != "multiclass":
            limits = self.thresholds or (_HALF,) * len(self.numbers)
            return PaintedMask(shape, limits, self.numbers)
        if self.thresholds is None:
            return LikeliestClass(shape)
        return ThresholdedClass(shape, self.thresholds)

    def to_json(self) -> dict[str, Any]:
        """Return what is told of it."""
        limits = self.thresholds
        if limits is None and self.task.kind != "multiclass":
            limits = (_HALF,) * len(self.numbers)
        names = self.task.names
        return {
            "rule": self.new_mask((0,)).rule,
            "of": "uncorrected probabilities",
            "thresholds": None if limits is None else dict(zip(names, limits, strict=True)),
            "numbers": dict(zip(names, self.numbers, strict=True)),
        }


def mask_rule(task: Task, dataset: DatasetFile, thresholds: tuple[float, ...] | None) -> MaskRule:
    """Return the rule of a task.

    Regions are painted in the order and with the numbers of nnU-Net's regions_class_order.

    Raises:
        ValueError: the data set does not say with which number each region is painted.
    """
    if not task.regions:
        return MaskRule(task, thresholds, tuple(range(1, task.channels)))
    order = dataset.settings.get("regions_class_order")
    if not isinstance(order, list | tuple) or len(order) != len(task.regions):
        raise ValueError(
            f"regions_class_order: expected one class number for each of {', '.join(task.names)}, "
            f"got {order!r}; say it in nnU-Net's dataset.json, prepare and train anew"
        )
    return MaskRule(task, thresholds, tuple(int(number) for number in order))
