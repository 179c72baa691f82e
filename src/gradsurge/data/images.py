"""Scans behind the labels, for pictures only: any grey or colour image on the label's grid."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from gradsurge.data.axes import channels_first
from gradsurge.data.case_error import CaseError, shown
from gradsurge.data.formats import READERS, StoredImage, read_stored
from gradsurge.data.volume import Volume

_COLOUR = (".png", ".jpg", ".jpeg")


def find_image(folder: Path, case: str) -> Path | None:
    """Return the scan of a case: ``<case>_0000``, nnU-Net's first channel, or ``<case>``."""
    for stem in (f"{case}_0000", case):
        for suffix in dict.fromkeys((*READERS, *_COLOUR)):
            file = folder / f"{stem}{suffix}"
            if file.is_file():
                return file
    return None


def read_image(file: Path, like: Volume) -> NDArray[np.float32]:
    """Return the first channel of a scan (colours as grey) as (*S), S being the label's axes.

    Raises:
        CaseError: it cannot be read, or does not lie on the label's grid.
    """
    colour = file.suffix.lower() in _COLOUR
    stored = StoredImage(_grey(file), "picture") if colour else read_stored(file)
    plane: NDArray[Any] = channels_first(stored, file, like)[0]
    return plane.astype(np.float32)


def _grey(file: Path) -> NDArray[Any]:
    try:
        with Image.open(file) as picture:
            return np.asarray(picture.convert("L"))
    except (OSError, UnidentifiedImageError, Image.DecompressionBombError) as error:
        raise CaseError(f"{shown(file)}: cannot be read as a picture ({error})") from error
