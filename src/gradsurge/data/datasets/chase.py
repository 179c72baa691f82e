"""CHASE_DB1: vessels of 28 fundus images of 14 children, drawn by two raters."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from gradsurge.data.case_error import CaseError, printable, shown
from gradsurge.data.datasets.dataset import Dataset
from gradsurge.data.datasets.finding import Finding, files_in
from gradsurge.data.datasets.raw_case import Found, RawCase
from gradsurge.data.datasets.scans import (
    check_classes,
    check_not_empty,
    check_pixels,
    file_of,
    read_colours,
)
from gradsurge.data.grid import Grid
from gradsurge.data.labels import read_label, read_mask
from gradsurge.data.prepared import PreparedCase, PreparedImage
from gradsurge.data.preprocessing import (
    image_onto_grid,
    label_onto_grid,
    native_grid,
    prepared_spacing,
    resized,
    z_score,
)
from gradsurge.data.splitting import divide_as_published
from gradsurge.data.volume import Volume

if TYPE_CHECKING:  # the store imports the data sets
    from gradsurge.data.store.dataset_file import DatasetFile

_MOST_SHRUNK = 16
_IMAGE = re.compile(r"Image_(?P<child>[0-9]+)(?P<eye>[LR])", re.IGNORECASE)
# Role -> folder and end of the name; the original archive has everything in one folder.
_PARTS = {
    "label": ("1st_manual", "_1stHO.png"),
    "label_2": ("2nd_manual", "_2ndHO.png"),
    "field_of_view": ("fov", ".png"),
}


class Chase(Dataset):
    """Fundus images of 999 x 960 pixels; the label is the first rater's.

    The second rater and, where there are such files, the field of view come as extras
    "second_rater" and "field_of_view". Both eyes of a child lie in one split: 16 / 4 / 8 images,
    the usual 20 for training and 8 for testing.

    Args:
        shrink: how many pixels along each axis become one, by area; 1 keeps them all.
    """

    name: ClassVar[str] = "chase"
    dimensions = 2
    tells_size = False
    channel_names = ("red", "green", "blue")
    label_names = {0: "background", 1: "vessel"}  # noqa: RUF012
    sizes: ClassVar[dict[str, int]] = {"train": 16, "validation": 4, "test": 8}

    def __init__(self, shrink: int = 1) -> None:
        if not 1 <= shrink <= _MOST_SHRUNK:
            raise ValueError(f"shrink: expected a whole number from 1 to 16, got {shrink}")
        self.shrink = shrink

    @classmethod
    def of_store(cls, facts: "DatasetFile") -> Self:
        return cls(facts.settings["shrink"])

    def find(self, raw: Path) -> Found:
        finding = Finding(raw)
        pictures = raw / "images" if (raw / "images").is_dir() else raw
        for image in files_in(pictures, [".jpg", ".jpeg"]):
            match = _IMAGE.fullmatch(image.stem)
            if match is None:
                finding.fail(
                    image.name, f"expected a name like Image_01L.jpg, got {printable(image.name)}"
                )
                continue
            files, missing = _parts(raw, image)
            if missing:
                finding.fail(image.stem, f"{missing} is missing; get it again")
            else:
                finding.add(image.stem, files, group=f"child {int(match['child']):02d}")
        return finding.found("Image_01L.jpg, ... in the folder or in its sub-folder images")

    def load(self, case: RawCase) -> PreparedCase:
        label_file = file_of(case.files, "label")
        label = read_label(label_file)
        check_classes(label, self.label_names, "CHASE_DB1")
        check_not_empty(label.array, label_file, "vessels")
        image, grid = self._image(case)
        check_pixels(case.files["image"], grid.source_shape, label.array.shape)
        extras = {
            name: label_onto_grid(_same_size(case.files[role], label.array.shape), grid, "area")
            for name, role in (("second_rater", "label_2"), ("field_of_view", "field_of_view"))
            if role in case.files
        }
        return image.with_label(label_onto_grid(label.array, grid, "area"), extras)

    def load_image(self, case: RawCase) -> PreparedImage:
        return self._image(case)[0]

    def _image(self, case: RawCase) -> tuple[PreparedImage, Grid]:
        file = file_of(case.files, "image")
        picture = read_colours(file)
        shape = [round(n / self.shrink) for n in picture.shape[1:]]
        grid = resized(native_grid(Volume(picture[0], None, None, file)), shape)
        scored = z_score(image_onto_grid(picture, grid, "area"))
        return PreparedImage(case.name, scored, prepared_spacing(grid), grid), grid

    def split(self, cases: Sequence[RawCase], seed: int) -> dict[str, list[str]]:
        return divide_as_published(self.name, cases, self.sizes, seed)

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "shrink": self.shrink,
            "resampling": "area",
            "intensity": "z-score of each colour",
        }


def _parts(raw: Path, image: Path) -> tuple[dict[str, Path], str | None]:
    """Return the files of a case, and the name of one that must be there but is not."""
    files = {"image": image}
    for role, (folder, end) in _PARTS.items():
        name = f"{image.stem}{end}"
        places = [place / name for place in (raw / folder, raw)]
        there = [place for place in places if place.is_file()]
        if there:
            files[role] = there[0]
        elif role != "field_of_view":
            return files, name
    return files, None


def _same_size(file: Path, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    mask = read_mask(file).array
    if mask.shape != shape:
        raise CaseError(
            f"{shown(file)}: has shape {mask.shape}, the first rater's is {shape}; get it again"
        )
    return mask.astype(np.uint8)
