"""Scans behind the labels, for pictures only: any grey or colour image on the label's grid."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from gradsurge.data.axes import channels_first
from gradsurge.data.case_error import CaseError, printable, shown
from gradsurge.data.formats import READERS, StoredImage, read_stored
from gradsurge.data.geometry import check_geometry
from gradsurge.data.volume import Volume

_PICTURES = (".png", ".jpg", ".jpeg", ".tif", ".tiff")
_SUFFIXES = tuple(dict.fromkeys((*READERS, *_PICTURES)))
# What Pillow raises on damaged files.
_FAULTS = (OSError, SyntaxError, ValueError, EOFError, Image.DecompressionBombError)


def find_image(folder: Path, case: str) -> Path | None:
    """Return the scan of a case: ``<case>_0000``, nnU-Net's first channel, or ``<case>``."""
    stems = (f"{case}_0000", case)
    found = []
    for file in folder.iterdir():
        suffix = next((s for s in _SUFFIXES if file.name.lower().endswith(s)), None)
        stem = printable(file.name[: -len(suffix)]) if suffix else None
        if suffix is not None and stem in stems and file.is_file():
            found.append((stems.index(stem), _SUFFIXES.index(suffix), file))
    return min(found)[-1] if found else None


def read_image(file: Path, like: Volume) -> NDArray[np.float32]:
    """Return the first channel of a scan (colours as grey) as (*S), S being the label's axes.

    Raises:
        CaseError: it cannot be read, or does not lie on the label's grid.
    """
    picture = like.array.ndim == 2 and file.suffix.lower() in _PICTURES
    stored = StoredImage(_grey(file), "picture") if picture else read_stored(file)
    scan: NDArray[Any] = channels_first(stored, file, like)[:1]
    check_geometry(Volume(scan, stored.spacing, stored.affine, file), like)
    plane: NDArray[np.float32] = scan[0].astype(np.float32)
    return plane


def _grey(file: Path) -> NDArray[Any]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of large pictures, of palettes: still to be seen
            with Image.open(file) as picture:
                # Pillow cuts 16 and 32 bits off at 255 when it is asked for "L".
                deep = picture.mode.startswith(("I", "F"))
                return np.asarray(picture if deep else picture.convert("L"))
    except _FAULTS as error:
        raise CaseError(f"{shown(file)}: cannot be read as a picture ({error})") from error
