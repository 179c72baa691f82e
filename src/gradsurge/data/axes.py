"""Which axis of a prediction is which, told by its format and the label's shape."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsurge.data.case_error import CaseError, shown
from gradsurge.data.formats import StoredImage, suffix_of
from gradsurge.data.volume import Volume

_PICTURES = (".png", ".tif", ".tiff")


def channels_first(stored: StoredImage, path: Path, like: Volume) -> NDArray[Any]:
    """Return the stored array as a view (C, *S), S being the axes of the label ``like``.

    NIfTI: (*S), or channels last (*S, C) or (*S, 1, C). Arrays and pictures: (*S) or (C, *S).
    nnU-Net's .npz: (C, z, y, x), turned round for a NIfTI label; an axis of length 1 goes where
    the label has none.

    Raises:
        CaseError: the shape does not fit, or the two formats differ in axis order.
    """
    array, label_shape = stored.array, like.array.shape
    if stored.axes == "picture" and like.affine is not None:
        raise CaseError(_mixed(path, "a picture (rows, columns)", "NIfTI (x, y)"))
    if stored.axes == "nifti" and suffix_of(like.source) in _PICTURES:
        raise CaseError(_mixed(path, "NIfTI (x, y)", "a picture (rows, columns)"))
    if stored.axes == "nnunet":
        fitted = _fit_leading(_nnunet_axes(array, like), label_shape)
    elif stored.axes == "nifti":
        fitted = _fit_trailing(array, label_shape)
    else:
        fitted = _fit_leading(array, label_shape)
    if fitted is None:
        raise CaseError(_misfit(stored, path, label_shape))
    return fitted


def _fit_leading(array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any] | None:
    if array.shape == shape:
        return array[None]
    return array if array.shape[1:] == shape else None


def _fit_trailing(array: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any] | None:
    if array.shape == shape:
        return array[None]
    if array.ndim == 5 and array.shape[:-1] == (*shape, 1):  # NIfTI's vectors: axis 4 is time
        return np.moveaxis(array[..., 0, :], -1, 0)
    return np.moveaxis(array, -1, 0) if array.shape[:-1] == shape else None


def _nnunet_axes(array: NDArray[Any], like: Volume) -> NDArray[Any]:
    """Return nnU-Net's (C, z, y, x), or (C, 1, y, x) of flat images, in the label's order."""
    if array.ndim == like.array.ndim + 2 and array.shape[1] == 1:
        array = array[:, 0]
    return array if like.affine is None else array.transpose(0, *range(array.ndim - 1, 0, -1))


def _mixed(path: Path, prediction: str, label: str) -> str:
    return (
        f"{shown(path)}: is {prediction} while its label is {label}; the order of the axes cannot "
        f"be told: save both in one format, or the prediction as .npy with the label's axes"
    )


def _misfit(stored: StoredImage, path: Path, label: tuple[int, ...]) -> str:
    got, where = stored.array.shape, f"{shown(path)}: shape {stored.array.shape}"
    wanted = f"does not fit the label's {label}"
    if stored.axes == "nifti":
        if got[1:] == label:
            return f"{where}: the channels come first; NIfTI keeps them last: save {(*label, 'C')}"
        return f"{where} {wanted}, with channels {(*label, 'C')}; nothing is resampled"
    if label[::-1] in (got, got[1:]):
        return (
            f"{where} {wanted}, but fits with its axes reversed (z, y, x); "
            f"transpose it to the label's order and save it again"
        )
    if got[:-1] == label:
        return f"{where}: the channels come last; expected {('C', *label)}: move them to the front"
    return f"{where} {wanted}, with channels {('C', *label)}; nothing is resampled"
