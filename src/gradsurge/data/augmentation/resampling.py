"""Arrays read off at the points of a grid: images linearly, labels by the largest share.

The same result as batchgeneratorsv2's SpatialTransform in a third of the time: the planes share one
pass, where that transform makes one for the image and one for every label.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import grid_sample

from gradsurge.data.augmentation.arrays import Arrays


def resample(arrays: Arrays, grid: Tensor) -> Arrays:
    """Return what lies at the points of a grid that does not leave the arrays."""
    axes = grid.shape[-1]
    linear = [arrays.image, *(e for e in arrays.extras.values() if e.is_floating_point())]
    labels = [arrays.label, *(e for e in arrays.extras.values() if not e.is_floating_point())]
    linear_planes = [plane for a in linear for plane in _planes(a, axes)]
    label_planes = [plane for a in labels for plane in _planes(a, axes)]
    present = [distinct(plane.numpy()) for plane in label_planes]
    shares = [
        plane == number
        for plane, numbers in zip(label_planes, present, strict=True)
        for number in numbers[1:]  # what is none of these is the first
    ]
    sampled = _sample([*linear_planes, *shares], grid)
    read = iter(sampled.unbind())
    images = [torch.stack([next(read) for _ in _planes(a, axes)]) for a in linear]
    found = iter([_largest(read, numbers, sampled.shape[1:]) for numbers in present])
    drawn = [torch.stack([next(found) for _ in _planes(a, axes)]) for a in labels]
    return _like(arrays, images, drawn, axes)


def distinct(label: NDArray[np.uint8]) -> list[int]:
    """Return the values that occur, in order; quick because they are few.

    >>> distinct(np.array([[0, 3], [3, 255]], np.uint8))
    [0, 3, 255]
    """
    found, largest = [int(label.min())], int(label.max())
    while found[-1] < largest:
        found.append(int(label[label > found[-1]].min()))
    return found


def _planes(array: Tensor, axes: int) -> Tensor:
    return array if array.ndim > axes else array[None]


def _sample(planes: Sequence[Tensor], grid: Tensor) -> Tensor:
    stack = torch.empty(len(planes), *planes[0].shape)
    for at, plane in enumerate(planes):
        stack[at] = plane
    return grid_sample(stack[None], grid[None], padding_mode="border", align_corners=False)[0]


def _largest(shares: Iterator[Tensor], numbers: Sequence[int], size: torch.Size) -> Tensor:
    """Return the number with the largest share at each voxel, the smaller one of equals."""
    if len(numbers) == 1:
        return torch.full(size, numbers[0], dtype=torch.uint8)
    others = [next(shares) for _ in numbers[1:]]
    most = 1 - torch.stack(others).sum(0)
    found = torch.full(size, numbers[0], dtype=torch.uint8)
    for share, number in zip(others, numbers[1:], strict=True):
        # Not argmax, which takes twenty times as long across planes.
        found.masked_fill_(share > most, number)
        most = torch.maximum(most, share)
    return found


def _like(arrays: Arrays, images: list[Tensor], labels: list[Tensor], axes: int) -> Arrays:
    """Give the arrays their names and shapes back."""
    image, label = images.pop(0), labels.pop(0)[0]
    extras = {}
    for name, old in arrays.extras.items():
        new = (images if old.is_floating_point() else labels).pop(0)
        extras[name] = new if old.ndim > axes else new[0]
    return Arrays(image, label, extras)
