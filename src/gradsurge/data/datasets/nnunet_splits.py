"""nnU-Net's `splits_final.json`: which cases train and which validate, fold by fold."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from gradsurge.data.case_error import shown
from gradsurge.data.case_files import natural
from gradsurge.data.datasets.json_files import read_json
from gradsurge.data.datasets.raw_case import RawCase

_LOG = logging.getLogger(__name__)


class Fold(NamedTuple):
    """Names of the cases of one fold."""

    train: frozenset[str]
    validation: frozenset[str]


def beside(raw: Path, name: str) -> Path | None:
    """Return a file of nnU-Net's, in the raw folder or where nnU-Net keeps it; None if absent.

    nnU-Net writes into ``nnUNet_preprocessed/<data set>`` beside ``nnUNet_raw/<data set>``.
    """
    raw = Path(raw).absolute()
    places = (raw / name, raw.parent.parent / "nnUNet_preprocessed" / raw.name / name)
    return next((place for place in places if place.is_file()), None)


def find_fold(raw: Path, splits: Path | None, fold: int) -> Fold | None:
    """Return a fold of the file given, or of the one nnU-Net left; None if there is none.

    Raises:
        ValueError: a fold other than the first was asked for and there is none, or as `read_fold`.
    """
    file = splits or beside(raw, "splits_final.json")
    if file is None and fold:
        raise ValueError(f"fold: {fold} was asked for, but there is no splits_final.json")
    return None if file is None else read_fold(file, fold)


def read_fold(file: Path, fold: int) -> Fold:
    """Return one fold of `splits_final.json`.

    Raises:
        ValueError: it is not such a file, has no such fold, or a case is on both sides.
    """
    folds = read_json(file, list)
    if not 0 <= fold < len(folds):
        raise ValueError(f"{shown(file)}: has folds 0 to {len(folds) - 1}, got {fold}")
    try:
        train, validation = (frozenset(map(str, folds[fold][key])) for key in ("train", "val"))
    except (LookupError, TypeError) as error:
        raise ValueError(
            f"{shown(file)}: expected lists of cases 'train' and 'val' in fold {fold}"
        ) from error
    if train & validation:
        raise ValueError(
            f"{shown(file)}: fold {fold} has {min(train & validation)} in 'train' and in 'val'"
        )
    return Fold(train, validation)


def divide_by_fold(cases: Sequence[RawCase], fold: Fold) -> dict[str, list[str]]:
    """Return split -> names of cases; test is what the raw folder has as such."""
    free = {case.name for case in cases if case.split is None}
    left_out = free - fold.train - fold.validation
    if left_out:
        _LOG.warning("nnunet: %d cases are in no split of splits_final.json", len(left_out))
    test = [case.name for case in cases if case.split == "test"]
    return {
        "train": sorted(free & fold.train, key=natural),
        "validation": sorted(free & fold.validation, key=natural),
        "test": sorted(test, key=natural),
    }
