"""Laid-out arrays as small NIfTI files: what a browser is sent."""

import gzip
from typing import Any

import nibabel
import numpy as np
from numpy.typing import NDArray

from gradsurge.experiments.viewing.laid_out import LaidOut

_LEVEL = 6
_COLOURS = np.dtype([("R", "u1"), ("G", "u1"), ("B", "u1")])


def volume_file(
    array: NDArray[Any], layout: LaidOut, slope: float = 1.0, inter: float = 0.0
) -> bytes:
    """Return a gzipped NIfTI-1 file: a header of 352 bytes, then the voxels, x fastest.

    The header tells the voxels' sizes and no position: everything lies on one grid, and positions
    are told from the layout's affine.

    Args:
        array: (*S); uint8, int16, uint16 or float32, or (*S) of red, green and blue.
        layout: of S.
        slope: value = slope * stored + inter.
        inter: see there.
    """
    laid = layout.lay(array)
    header = nibabel.Nifti1Header(endianness="<")
    header.set_data_dtype(laid.dtype)
    header.set_data_shape(laid.shape)
    affine = np.diag([*layout.sizes, 1.0])
    header.set_qform(affine, 1)
    header.set_sform(affine, 1)
    header.set_xyzt_units("mm")
    header.set_slope_inter(slope, inter)
    header["vox_offset"], header["magic"] = 352, b"n+1"
    voxels = laid.astype(laid.dtype.newbyteorder("<"), copy=False).tobytes(order="F")
    # No name and no date, so that the same case gives the same file.
    return gzip.compress(header.binaryblock + bytes(4) + voxels, _LEVEL, mtime=0)


def colour_voxels(pixels: NDArray[Any]) -> NDArray[Any]:
    """Return (*S) of red, green and blue of (3, *S), whatever their range, in 8 bits each."""
    if pixels.dtype != np.uint8:
        low, high = float(pixels.min()), float(pixels.max())
        scaled = (pixels.astype(np.float32) - low) * (255.0 / max(high - low, 1e-30))
        pixels = np.rint(scaled).astype(np.uint8)
    voxels = np.empty(pixels.shape[1:], _COLOURS)
    for name, plane in zip("RGB", pixels, strict=True):
        voxels[name] = plane
    return voxels
