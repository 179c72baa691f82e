"""What a file holds before anyone says whether it is a label or a prediction."""

import math
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from gradsurge.data.case_error import CaseError, shown

# Who fixes the order of the axes: NIfTI has (x, y, z), pictures (pages, rows, columns), nnU-Net's
# .npz (channels, z, y, x), and an array of one's own the order of the label.
AxisOrder = Literal["nifti", "picture", "nnunet", "array"]

# Deflate, in gzip, zip and PNG, shrinks at most 1032-fold.
_DEFLATE_LIMIT = 1040


@dataclass(frozen=True)
class StoredImage:
    """The array of a file with its axes as stored; value = slope * stored + intercept.

    ``full_scale`` is the stored value that means probability 1 in an integer picture (255, 65535).
    """

    array: NDArray[Any]
    axes: AxisOrder
    spacing: tuple[float, ...] | None = None
    affine: NDArray[np.float64] | None = None
    slope: float = 1.0
    intercept: float = 0.0
    full_scale: int | None = None

    @property
    def scaled(self) -> bool:
        """Whether the file says that its numbers stand for other ones."""
        return (self.slope, self.intercept) != (1.0, 0.0)


def check_size(
    path: Path, shape: Iterable[int], itemsize: int, *, stored: int, deflated: bool
) -> None:
    """Refuse a header that promises more than ``stored`` bytes can hold, or than the machine can.

    Readers allocate what the header says before they look at the data, so a damaged or hostile
    header must be caught here.
    """
    shape = tuple(int(n) for n in shape)
    if not shape or min(shape) < 1:
        raise CaseError(f"{shown(path)}: shape {shape} holds no voxels")
    needed = math.prod(shape) * itemsize
    if needed > stored * (_DEFLATE_LIMIT if deflated else 1):
        raise CaseError(
            f"{shown(path)}: its header promises {needed:,} bytes (shape {shape}), more than the "
            f"file can hold; it is truncated or damaged: write it again"
        )
    memory = _physical_memory()
    if memory is not None and needed > memory:
        raise CaseError(
            f"{shown(path)}: shape {shape} needs {needed / 2**30:.1f} GiB, this machine has "
            f"{memory / 2**30:.1f}; crop or split the case"
        )


def _physical_memory() -> int | None:
    names = getattr(os, "sysconf_names", {})
    if "SC_PHYS_PAGES" not in names or "SC_PAGE_SIZE" not in names:
        return None  # Windows has no sysconf
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
