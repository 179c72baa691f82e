"""What is to be predicted: raw images, or cases of a store."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gradsurge.data.case_error import shown
from gradsurge.data.datasets import dataset_of_store
from gradsurge.data.prepared import PreparedImage
from gradsurge.data.store import DatasetFile, Store
from gradsurge.experiments.prediction.ensemble import preparation_difference

_STORE_KIND = "gradsurge store"


@dataclass(frozen=True)
class InputCase:
    """An image to be predicted.

    Attributes:
        name: of the case.
        files: of the image, where they are known; the first tells the geometry.
        kept: all source files, which no result may replace.
        load: returns the prepared image, or raises CaseError.
        label: returns the label (*S) of a case that has no source, a phantom; None for others.
    """

    name: str
    files: tuple[Path, ...]
    kept: tuple[Path, ...]
    load: Callable[[], PreparedImage]
    label: Callable[[], NDArray[np.uint8]] | None = None


@dataclass(frozen=True)
class InputCases:
    """The cases, and (case or file, message) of what cannot be one."""

    cases: list[InputCase]
    problems: list[tuple[str, str]]


def find_cases(place: Path, dataset: DatasetFile, split: str | None = None) -> InputCases:
    """Return the cases of a folder, a file or a store.

    Args:
        place: images as the data set's, or a store of the same preprocessing.
        dataset: facts of the store that the network was trained on.
        split: of a store; None for all cases.

    Raises:
        ValueError: nothing is there, or a store of another preprocessing.
    """
    if not place.exists():
        raise ValueError(f"{shown(place)}: no such file or folder")
    if is_store(place):
        return _of_store(Store.open(place), dataset, split)
    if split is not None:
        raise ValueError(f"split: {shown(place)} is no store, which alone has splits; leave it out")
    source = dataset_of_store(dataset)
    found = source.find_images(place)
    cases = []
    for case in found.cases:
        files = tuple(case.files.values())
        cases.append(InputCase(case.name, files, files, partial(source.load_image, case)))
    return InputCases(cases, list(found.problems))


def is_store(place: Path) -> bool:
    """Tell whether a folder is a store, as its dataset.json says; nnU-Net has one of that name."""
    try:
        content = json.loads((place / "dataset.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(content, dict) and content.get("format") == _STORE_KIND


def _of_store(store: Store, dataset: DatasetFile, split: str | None) -> InputCases:
    difference = preparation_difference(store.dataset, dataset)
    if difference is not None:
        raise ValueError(
            f"{shown(store.path)}: is not prepared as the run's store was: {difference}; predict "
            f"its raw images, which are then prepared as the run needs them"
        )
    names = store.cases if split is None else store.split(split)
    if not names:
        raise ValueError(f"{shown(store.path)}: its split {split!r} has no case")
    found = InputCases([], [])
    for name in names:
        try:
            found.cases.append(_stored_case(store, name))
        except ValueError as error:  # CaseError among them
            found.problems.append((name, str(error)))
    return found


def _stored_case(store: Store, name: str) -> InputCase:
    case = store.case(name)
    images = [file for role, file in case.source_files.items() if role.startswith("image")]

    def load() -> PreparedImage:
        return PreparedImage(name, case.read_image(), case.spacing, case.grid)

    label = case.read_label if case.grid is None else None
    return InputCase(name, tuple(images), tuple(case.source_files.values()), load, label)
