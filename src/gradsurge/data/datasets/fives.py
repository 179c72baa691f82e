"""FIVES: vessels of 800 fundus images (Jin et al., Sci Data 9:475, 2022)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from gradsurge.data.datasets.dataset import Dataset
from gradsurge.data.datasets.finding import Finding, files_in, first_folder
from gradsurge.data.datasets.raw_case import Found, RawCase
from gradsurge.data.datasets.scans import check_not_empty, check_pixels, file_of, read_colours
from gradsurge.data.formats.picture import read_picture
from gradsurge.data.grid import Grid
from gradsurge.data.prepared import PreparedCase, PreparedImage
from gradsurge.data.preprocessing import (
    central_box,
    cropped,
    image_onto_grid,
    label_onto_grid,
    native_grid,
    resized,
    z_score,
)
from gradsurge.data.splitting import divide_as_published
from gradsurge.data.volume import Volume

_EXPECTED = "train/Original, train/Ground truth, test/Original and test/Ground truth, as published"
_MASK_THRESHOLD = 127


class Fives(Dataset):
    """Fundus images, 2048 pixels wide, made 1024 by area, of which the central 512 are kept.

    The publisher's 200 test images stay the test set; its 600 training images are divided into
    480 and 120. Each colour is scored by its own mean and deviation over the kept patch. No
    patients are published, so each image is a group.
    """

    name: ClassVar[str] = "fives"
    dimensions = 2
    tells_size = False
    channel_names = ("red", "green", "blue")
    label_names = {0: "background", 1: "vessel"}  # noqa: RUF012
    sizes: ClassVar[dict[str, int]] = {"train": 480, "validation": 120, "test": 200}
    resolution: ClassVar[tuple[int, int]] = (1024, 1024)
    patch: ClassVar[tuple[int, int]] = (512, 512)

    def find(self, raw: Path) -> Found:
        finding = Finding(raw)
        first_folder((raw / "test", raw / "train"), _EXPECTED)
        for split in ("train", "test"):
            if (raw / split).is_dir():
                self._find_split(raw / split, split, finding)
        return finding.found(f"pictures in {_EXPECTED}")

    def _find_split(self, folder: Path, split: str, finding: Finding) -> None:
        images = {f.name: f for f in files_in(folder / "Original", [".png"])}
        masks = {f.name: f for f in files_in(folder / "Ground truth", [".png"])}
        for name in images.keys() | masks.keys():
            case = f"{split}_{Path(name).stem}"
            if name in images and name in masks:
                finding.add(case, {"image": images[name], "label": masks[name]}, split=split)
            else:
                absent = "Ground truth" if name in images else "Original"
                finding.fail(case, f"{split}/{absent}/{name} is missing; get it again")

    def load(self, case: RawCase) -> PreparedCase:
        file = file_of(case.files, "label")
        mask = read_picture(file).max(axis=0) > _MASK_THRESHOLD
        check_not_empty(mask, file, "vessels")
        image, grid = self._image(case)
        check_pixels(case.files["image"], grid.source_shape, mask.shape)
        return image.with_label(label_onto_grid(mask.astype(np.uint8), grid, "area"))

    def load_image(self, case: RawCase) -> PreparedImage:
        return self._image(case)[0]

    def _image(self, case: RawCase) -> tuple[PreparedImage, Grid]:
        file = file_of(case.files, "image")
        picture = read_colours(file)
        grid = resized(native_grid(Volume(picture[0], None, None, file)), self.resolution)
        grid = cropped(grid, central_box(self.resolution, self.patch))
        scored = z_score(image_onto_grid(picture, grid, "area"))
        return PreparedImage(case.name, scored, (1.0, 1.0), grid), grid  # files tell no spacing

    def split(self, cases: Sequence[RawCase], seed: int) -> dict[str, list[str]]:
        return divide_as_published(self.name, cases, self.sizes, seed)

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "resolution": list(self.resolution),
            "patch": list(self.patch),
            "resampling": "area",
            "intensity": "z-score of each colour",
        }
