"""Where files of a prediction get their format and geometry from."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nibabel
import numpy as np

from gradsurge.data.formats import suffix_of
from gradsurge.data.formats.faults import reading
from gradsurge.data.formats.nifti import affine_in_mm, read_nifti_header
from gradsurge.data.grid import Grid

_SCANNER = 1  # NIfTI's code for coordinates of the scanner, which DICOM has


@dataclass(frozen=True)
class Frame:
    """A NIfTI header to copy, or none for pictures.

    Attributes:
        header: nibabel's, with the geometry; None where the source is a picture or an array.
        origin: in words, where the geometry comes from.
    """

    header: Any | None
    origin: str

    @property
    def map_suffix(self) -> str:
        """Of probability maps."""
        return ".tif" if self.header is None else ".nii.gz"

    def mask_suffix(self, axes: int) -> str:
        """Of masks with so many axes."""
        if self.header is not None:
            return ".nii.gz"
        return ".png" if axes == 2 else ".tif"


def frame_of(source: Path | None, grid: Grid | None, spacing: Sequence[float]) -> Frame:
    """Return the frame of a case.

    A NIfTI source gives its own header, bit by bit. A DICOM series, or a source that is gone or no
    longer the one a store was prepared from, gives the affine. An image without source, a phantom,
    has its spacing alone.

    Raises:
        CaseError: the source's header cannot be read.
    """
    if source is not None and suffix_of(source) in (".nii", ".nii.gz") and source.is_file():
        with reading(source, "NIfTI"):
            image = read_nifti_header(source)
            same = grid is None or _is_of(image, source, grid)
        if same:
            return Frame(_bare(image.header), "header of the input")
    if grid is None:
        return Frame(_made(np.diag([*spacing, *[1.0] * (4 - len(spacing))])), "spacing alone")
    if grid.source_affine is not None:
        return Frame(_made(np.array(grid.source_affine)), "affine of the input")
    return Frame(None, "pixels of the input")


def _is_of(image: Any, source: Path, grid: Grid) -> bool:
    """Tell whether nibabel's image still has the shape and affine that the case had."""
    axes = len(grid.source_shape)
    if tuple(image.shape[:axes]) != grid.source_shape or set(image.shape[axes:]) - {1}:
        return False
    affine = grid.source_affine
    now = affine_in_mm(image, source)
    return affine is None or bool(np.allclose(now, np.array(affine), atol=1e-6))


def _bare(header: Any) -> Any:
    """Return a copy in little-endian order, without what tells of the old values."""
    copied = header.as_byteswapped("<")
    copied.extensions.clear()
    copied["vox_offset"] = 0
    copied["cal_min"], copied["cal_max"] = 0, 0
    copied.set_intent("none")
    return copied


def _made(affine: Any) -> Any:
    header = nibabel.Nifti1Header(endianness="<")
    header.set_data_shape((1, 1, 1))
    header.set_qform(affine, _SCANNER)
    header.set_sform(affine, _SCANNER)
    header.set_xyzt_units("mm")
    return header
