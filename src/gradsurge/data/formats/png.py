"""PNG: greyscale of 1 to 16 bits, palettes (the indices), and grey that was saved as colour."""

from pathlib import Path

import numpy as np
from PIL.PngImagePlugin import PngImageFile

from gradsurge.data.case_error import CaseError, shown
from gradsurge.data.formats.grey import grey
from gradsurge.data.formats.stored import StoredImage, check_size

_PALETTE, _COLOUR_BIT = 3, 2


def read_png(path: Path) -> StoredImage:
    """Return the pixels (rows, columns) as stored: no palette, gamma or bit depth is applied."""
    with path.open("rb") as file:
        header = file.read(26)
        file.seek(0)
        # Not Image.open: its guard against bombs warns from 89 million pixels on, which a slide
        # of pathology has, and can only be set for the whole process. check_size is the guard.
        with PngImageFile(file) as image:
            depth, colour = header[24], header[25]
            size = path.stat().st_size
            check_size(path, image.size[::-1], 1, stored=size * 8, deflated=True)
            if depth == 16 and colour & _COLOUR_BIT:
                raise CaseError(
                    f"{shown(path)}: is a 16-bit colour picture, which is read with 8 bits only; "
                    f"save it as 16-bit greyscale"
                )
            array = np.array(image)
    if array.ndim == 3:
        array = grey(array, path)
    if colour == _PALETTE:
        return StoredImage(array, "picture")
    if depth in (2, 4):  # the decoder stretches these to 0..255
        array //= 255 // (2**depth - 1)
    return StoredImage(array, "picture", full_scale=2**depth - 1 if depth > 1 else None)
