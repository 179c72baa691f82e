"""Regions drawn in OsiriX: an XML property list with the polygons of one image."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsurge.data.case_error import CaseError, printable, shown
from gradsurge.data.formats.faults import reading

Polygon = NDArray[np.float64]
_LARGEST_FILE = 64 * 2**20  # bytes; real ones have some ten thousand
_FARTHEST = 1e6  # pixels; beyond any image, and within what can be drawn


def read_polygons(file: Path, name: str) -> list[Polygon]:
    """Return the polygons of the regions of one name ("Mass"), each (points, 2) as x, y in pixels.

    Entities and other traps of XML are refused, and nothing outside the file is ever fetched.

    Raises:
        CaseError: it is not such a file, or a point in it is not a pair of numbers.
    """
    from defusedxml import ElementTree

    with reading(file, "OsiriX XML"):
        if file.stat().st_size > _LARGEST_FILE:
            raise CaseError(f"{shown(file)}: is too large for a list of regions; get it again")
        root = ElementTree.parse(file).getroot()
        if root is None or root.tag != "plist":
            raise CaseError(f"{shown(file)}: expected a property list (<plist>) from OsiriX")
        regions = [entries for d in root.iter("dict") if "Point_px" in (entries := _entries(d))]
        return [
            _points(region["Point_px"], file) for region in regions if _name(region) == name.lower()
        ]


def draw_polygons(polygons: list[Polygon], shape: tuple[int, int]) -> NDArray[np.uint8]:
    """Return (rows, columns), 1 where the centre of a pixel lies in a polygon.

    scikit-image asks where the centre lies; Pillow also paints every pixel the outline touches,
    which adds half a pixel all round.
    """
    from skimage import draw

    polygon: Any = draw.polygon  # untyped
    mask = np.zeros(shape, np.uint8)
    for points in polygons:
        mask[polygon(points[:, 1], points[:, 0], shape)] = 1
    return mask


def _entries(element: Any) -> dict[str, Any]:
    """Return key -> element of a property list's <dict>, without what lies deeper."""
    inside = list(element)
    return {(key.text or "").strip(): value for key, value in pairwise(inside) if key.tag == "key"}


def _name(region: dict[str, Any]) -> str:
    return (region["Name"].text or "").strip().lower() if "Name" in region else ""


def _points(array: Any, file: Path) -> Polygon:
    return np.array([_pair(point.text or "", file) for point in array]).reshape(-1, 2)


def _pair(text: str, file: Path) -> tuple[float, float]:
    parts = text.strip().removeprefix("(").removesuffix(")").split(",")
    try:
        x, y = (float(part) for part in parts)
    except ValueError:
        x = y = np.nan
    if not max(abs(x), abs(y)) <= _FARTHEST:  # nor NaN
        raise CaseError(
            f"{shown(file)}: expected points like (1024.5, 310.2), got {printable(text[:60])!r}"
        )
    return x, y
