"""Slices of held-out cases with the probabilities of all models, for a picture."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsurge.data import CaseError, Volume, find_files, find_image, read_image, read_label
from gradsurge.experiments.evaluation.case import CaseTask, read_case
from gradsurge.experiments.evaluation.settings import Settings

_QUARTILES = (0.25, 0.5, 0.75)


@dataclass(frozen=True)
class SideBySide:
    """One slice of a case, all arrays (H, W) as they are usually shown.

    Attributes:
        case: its name.
        structure: whose probabilities these are.
        image: the scan; None if there is none.
        label: where the structure is.
        maps: model -> probability.
        aspect: height of a pixel over its width.
    """

    case: str
    structure: str
    image: NDArray[np.float32] | None
    label: NDArray[np.bool_]
    maps: Mapping[str, NDArray[np.float32]]
    aspect: float


def side_by_side(
    models: Mapping[str, Path],
    labels: Path,
    images: Path,
    cases: Sequence[str],
    settings: Settings,
) -> list[SideBySide]:
    """Return the cases at the quartiles of the foreground's size, which no model has a say in.

    Args:
        models: name -> folder of predictions.
        labels: folder of the labels.
        images: folder of the scans.
        cases: to choose from.
        settings: how the maps are read.
    """
    found = find_files(labels)
    chosen = at_quartiles({case: _foreground(found[case][0]) for case in cases})
    return [_one(case, models, found[case][0], images, settings) for case in chosen]


def at_quartiles(sizes: Mapping[str, int]) -> list[str]:
    """Return the names at the quartiles; fewer if there are not as many.

    >>> at_quartiles({"a": 9, "b": 1, "c": 5, "d": 7, "e": 3})
    ['e', 'c', 'd']
    """
    ordered = sorted(sizes, key=lambda name: (sizes[name], name))
    places = dict.fromkeys(round(share * (len(ordered) - 1)) for share in _QUARTILES)
    return [ordered[place] for place in places] if ordered else []


def _foreground(file: Path) -> int:
    return int(np.count_nonzero(read_label(file).array))


def _one(
    case: str, models: Mapping[str, Path], label_file: Path, images: Path, settings: Settings
) -> SideBySide:
    maps, structures, label = {}, None, None
    for name, folder in models.items():
        files = find_files(folder, cases=[case])[case]
        structures, label, _ = read_case(CaseTask(name, case, files, label_file), settings)
        maps[name] = structures.probabilities
    if structures is None or label is None:
        raise ValueError("models: expected at least one")
    # The rarest structure that is there: what large ones look like everybody knows.
    sizes = [int(y.sum()) or label.array.size for y in structures.labels]
    k = int(np.argmin(sizes))
    at = _fullest_slice(structures.labels[k])
    nifti, spacing = label.affine is not None, structures.spacing
    scan = _scan(images, case, label)
    return SideBySide(
        case=case,
        structure=structures.names[k],
        image=None if scan is None else _plane(scan, at, nifti),
        label=_plane(structures.labels[k], at, nifti),
        maps={name: _plane(p[k], at, nifti).astype(np.float32) for name, p in maps.items()},
        aspect=spacing[1] / spacing[0] if nifti else spacing[-2] / spacing[-1],
    )


def _scan(folder: Path, case: str, label: Volume) -> NDArray[np.float32] | None:
    """Return the scan; a picture without one is still worth a look."""
    file = find_image(folder, case)
    try:
        return None if file is None else read_image(file, label)
    except CaseError:
        return None


def _fullest_slice(mask: NDArray[np.bool_]) -> int | None:
    """Return the place along the last axis with most of a structure; None of an image."""
    return None if mask.ndim == 2 else int(mask.sum(axis=(0, 1)).argmax())


def _plane(array: NDArray[Any], at: int | None, nifti: bool) -> NDArray[Any]:
    plane = array if at is None else array[..., at]
    return np.flip(plane.T, axis=0) if nifti else plane
