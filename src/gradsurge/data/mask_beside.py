"""Where nnU-Net's probabilities lie: the .npz does not tell, the mask beside it does."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gradsurge.data.formats.faults import reading
from gradsurge.data.formats.nifti import affine_in_mm, read_nifti_header
from gradsurge.data.formats.registry import stem_of

_SUFFIXES = (".nii.gz", ".nii")


def affine_beside(path: Path) -> NDArray[np.float64] | None:
    """Return the affine of the NIfTI mask beside a file, in mm; None if there is none.

    Raises:
        CaseError: the mask is damaged.
    """
    for suffix in _SUFFIXES:
        mask = path.with_name(f"{stem_of(path)}{suffix}")
        if mask.is_file():
            with reading(mask, suffix):
                return affine_in_mm(read_nifti_header(mask), mask)
    return None
