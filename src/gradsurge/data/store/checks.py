"""What a prepared case must be before it is stored."""

import re

import numpy as np

from gradsurge.data.case_error import CaseError
from gradsurge.data.datasets import Dataset
from gradsurge.data.prepared import PreparedCase

_EXTRA = re.compile(r"[a-z][a-z0-9_]*")
_OURS = ("image", "label", "case", "locations")


def check_prepared(case: PreparedCase, dataset: Dataset) -> None:
    """Check dtypes, shapes and values against what the data set declares.

    Raises:
        CaseError: something does not fit.
    """
    image, label = case.image, case.label
    if image.dtype != np.float32 or label.dtype != np.uint8:
        raise CaseError(
            f"expected a float32 image and a uint8 label, got {image.dtype} and {label.dtype}"
        )
    expected = (len(dataset.channel_names), *label.shape)
    if label.ndim != dataset.dimensions or image.shape != expected or 0 in label.shape:
        raise CaseError(
            f"expected {expected[0]} channels and one label on {dataset.dimensions} axes, "
            f"got image {image.shape} and label {label.shape}"
        )
    spacing = np.asarray(case.spacing, np.float64)
    if spacing.shape != (label.ndim,) or not (np.isfinite(spacing) & (spacing > 0)).all():
        raise CaseError(f"expected a spacing above 0 along {label.ndim} axes, got {case.spacing}")
    _check_extras(case)
    if not np.isfinite(image).all():
        raise CaseError("its image has NaN or infinite voxels after preprocessing; check the scan")


def check_counts(voxels: dict[int, int], dataset: Dataset) -> None:
    """Check that only declared classes occur.

    Raises:
        CaseError: others do.
    """
    strange = voxels.keys() - dataset.label_names.keys() - {dataset.ignore_label}
    if strange:
        raise CaseError(
            f"its label has undeclared values {sorted(strange)}; "
            f"the data set declares {sorted(dataset.label_names)}"
        )


def _check_extras(case: PreparedCase) -> None:
    axes = case.label.ndim
    for name, array in case.extras.items():
        if not _EXTRA.fullmatch(name) or name in _OURS:
            raise CaseError(f"an extra cannot be named {name!r}; use small letters and _")
        if array.shape[array.ndim - axes :] != case.label.shape or array.ndim > axes + 1:
            raise CaseError(
                f"extra {name}: expected a shape that ends in {case.label.shape}, got {array.shape}"
            )
        if array.dtype.kind not in "uif":
            raise CaseError(f"extra {name}: expected numbers, got {array.dtype}")
