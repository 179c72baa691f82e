"""Scan and label of a case in an nnU-Net raw folder."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from gradsurge.data.case_error import CaseError, shown
from gradsurge.data.datasets.nnunet_description import Description
from gradsurge.data.datasets.nnunet_files import in_one_file
from gradsurge.data.datasets.raw_case import RawCase
from gradsurge.data.datasets.scans import check_classes, file_of, read_channels, read_colours
from gradsurge.data.labels import read_label
from gradsurge.data.volume import Volume


def axes_of(cases: Sequence[RawCase], description: Description) -> int:
    """Return 2 or 3: the axes of the first label that can be read."""
    if description.ending == ".png":
        return 2
    for case in cases:
        try:
            return read_label(case.files["label"]).array.ndim
        except CaseError:
            continue
    return 3


def read_case_label(case: RawCase, dimensions: int, declared: Collection[int]) -> Volume:
    """Return the label (*S).

    Raises:
        CaseError: it has other axes than the data set, or class numbers it does not declare.
    """
    label = read_label(file_of(case.files, "label"))
    if label.array.ndim != dimensions:
        raise CaseError(
            f"{shown(label.source)}: has {label.array.ndim} axes, the data set's other labels "
            f"{dimensions}; use folders of their own"
        )
    check_classes(label, declared, "dataset.json")
    return label


def read_case_scan(case: RawCase, dimensions: int, description: Description) -> Volume:
    """Return all channels (C, *S), from one file each or from a picture with colours.

    Raises:
        CaseError: one cannot be read, or they do not fit together.
    """
    files = [file for role, file in case.files.items() if role.startswith("image")]
    if in_one_file(len(files), description):
        return Volume(read_colours(files[0]).astype(np.float32), None, None, files[0])
    return read_channels(files, dimensions)


def merged_label(label: Volume, ignore: int | None) -> Volume:
    """Return a label with 1 for every foreground class, and 2 where nothing is known."""
    merged = (label.array > 0).astype(label.array.dtype)
    if ignore is not None:
        merged[label.array == ignore] = 2
    return replace(label, array=merged)
