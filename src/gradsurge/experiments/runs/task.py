"""What a network is asked to tell: exclusive classes, or regions that overlap."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from gradsurge.calibration import CalibrationSketch
from gradsurge.calibration.sketch import Kind
from gradsurge.data.store import DatasetFile

UNKNOWN = 255  # marks unlabelled entries of region targets; 0 and 1 are their labels


@dataclass(frozen=True)
class Task:
    """The outputs of a model and how they are compared with labels.

    Attributes:
        names: of the foreground: of classes 1, 2, ..., or of the regions.
        activation: "softmax" for exclusive classes, "sigmoid" for regions.
        channels: number K of outputs.
        regions: class numbers of each region; empty for exclusive classes.
        ignore_label: class number of unknown voxels.

    >>> whole_and_core = Task(("whole", "core"), "sigmoid", 2, ((1, 2), (2,)), None)
    >>> whole_and_core.target(torch.tensor([[0, 1, 2]])).tolist()
    [[[0, 1, 1], [0, 0, 1]]]
    """

    names: tuple[str, ...]
    activation: Literal["softmax", "sigmoid"]
    channels: int
    regions: tuple[tuple[int, ...], ...]
    ignore_label: int | None

    @property
    def kind(self) -> Kind:
        """The kind of sketch that measures it: one foreground is binary, whatever the outputs."""
        if len(self.names) == 1:
            return "binary"
        return "multilabel" if self.regions else "multiclass"

    @property
    def classes(self) -> int:
        """Number of classes of the sketch."""
        return 2 if self.kind == "binary" else self.channels

    @property
    def ignore_index(self) -> int | None:
        """What marks unknown voxels in the target of a loss."""
        if self.ignore_label is None:
            return None
        return UNKNOWN if self.regions else self.ignore_label

    def target(self, label: Tensor) -> Tensor:
        """Return what a loss compares logits with: (N, *S), or (N, K, *S) of regions."""
        if not self.regions:
            return label
        inside = [_is_one_of(label, numbers) for numbers in self.regions]
        target = torch.stack(inside, dim=1).to(torch.uint8)
        if self.ignore_label is not None:
            target.masked_fill_((label == self.ignore_label).unsqueeze(1), UNKNOWN)
        return target

    def foreground(self, label: Tensor) -> Tensor:
        """Return bool (F, *S) of a label (*S): where each foreground class or region is."""
        numbers = self.regions or tuple((n,) for n in range(1, self.channels))
        return torch.stack([_is_one_of(label, of_one) for of_one in numbers])

    def known(self, label: Tensor) -> Tensor | None:
        """Return bool (*S): where the label says something; None for everywhere."""
        return None if self.ignore_label is None else label != self.ignore_label

    def probabilities(self, logits: Tensor) -> Tensor:
        """Return the probabilities (K, *S) of logits (K, *S)."""
        return logits.softmax(0) if self.activation == "softmax" else logits.sigmoid()

    def foreground_of(self, probabilities: Tensor) -> Tensor:
        """Return those of the foreground, (F, *S) of (K, *S)."""
        return probabilities[-len(self.names) :]

    def empty_sketch(self) -> CalibrationSketch:
        """Return a sketch to count in."""
        return CalibrationSketch(self.kind, self.classes)

    def sketch_labels(self, label: Tensor) -> Tensor:
        """Return the labels that a sketch counts, (1, *S) or (1, K, *S); unknown ones as 0."""
        known = self.known(label)
        label = label if known is None else label.masked_fill(~known, 0)
        if self.regions:
            inside = self.foreground(label).to(torch.uint8)
            return inside if len(inside) == 1 else inside.unsqueeze(0)
        return label.unsqueeze(0)


def task_of(dataset: DatasetFile) -> Task:
    """Return what the labels of a store ask for.

    Raises:
        ValueError: its labels have no foreground.
    """
    sets: Mapping[str, Sequence[int]] = dataset.label_sets
    if sets:
        regions = tuple(tuple(numbers) for numbers in sets.values())
        return Task(tuple(sets), "sigmoid", len(sets), regions, dataset.ignore_label)
    highest = max(dataset.label_names, default=0)
    if highest < 1:
        raise ValueError(f"{dataset.name}: its labels have no foreground to learn")
    names = tuple(dataset.label_names.get(n, f"class {n}") for n in range(1, highest + 1))
    return Task(names, "softmax", highest + 1, (), dataset.ignore_label)


def _is_one_of(label: Tensor, numbers: Sequence[int]) -> Tensor:
    inside = label == numbers[0]
    for number in numbers[1:]:
        inside |= label == number
    return inside
