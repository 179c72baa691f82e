"""Folders of pictures and masks, the way most two-dimensional data is kept."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gradsurge.data.case_error import CaseError, shown
from gradsurge.data.datasets.dataset import Dataset, Found, RawCase
from gradsurge.data.datasets.finding import Finding, files_in, patient_of
from gradsurge.data.datasets.scans import check_classes, file_of, read_colours
from gradsurge.data.formats.picture import PICTURES, has_colours, read_picture
from gradsurge.data.labels import read_label
from gradsurge.data.prepared import PreparedCase
from gradsurge.data.preprocessing import (
    image_onto_grid,
    label_onto_grid,
    native_grid,
    prepared_spacing,
    z_score,
)
from gradsurge.data.splitting import divide
from gradsurge.data.volume import Volume

_SHARES = {"train": 64, "validation": 16, "test": 20}
_IMAGES, _MASKS = ("images", "image", "imgs"), ("masks", "mask", "labels", "label")
_SPLITS = {
    "train": ("train", "training"),
    "validation": ("validation", "valid", "val"),
    "test": ("test", "testing"),
}
_ENDS = ("_mask", "_masks", "_label", "_labels", "_seg", "_segmentation", "_gt", "-mask")
_JPEG_THRESHOLD = 127


class Images(Dataset):
    """Pictures in ``images/`` and masks of the same name, or with ``_mask`` added, in ``masks/``.

    ``labels/`` is understood too, and folders train, val and test above them fix the split.
    Pictures are PNG, JPEG or TIFF; if one has colours, all get three channels. Masks hold 0 and
    255, or class numbers; in JPEG, which blurs, they are cut at 127. Nothing is resampled, each
    channel is z-scored, empty masks are allowed.

    Args:
        classes: names of the classes, background first; None reads them from ``classes.txt``, one
            a line, or takes background and foreground.
        patient: regular expression whose first group names the patient in a picture's name.
    """

    name: ClassVar[str] = "images"
    dimensions = 2

    def __init__(self, classes: Sequence[str] | None = None, patient: str | None = None) -> None:
        if classes is not None and not 2 <= len(classes) <= 256:
            raise ValueError(f"classes: expected 2 to 256 names, got {len(classes)}")
        self.classes, self.patient = classes, patient

    def find(self, raw: Path) -> Found:
        finding = Finding(raw)
        pairs = list(_pairs_of_folders(raw))
        if not pairs:
            raise ValueError(
                f"{shown(raw)}: expected folders images and masks (or labels), directly or in "
                f"train, val and test"
            )
        for images, masks, split in pairs:
            self._find_pairs(images, masks, split, finding)
        found = finding.found(f"pictures ({', '.join(PICTURES)}) in images and masks")
        self.label_names = dict(enumerate(self.classes or _class_names(raw)))
        self.channel_names = _channels(found.cases)
        return found

    def _find_pairs(self, images: Path, masks: Path, split: str | None, finding: Finding) -> None:
        drawn: dict[str, list[Path]] = {}
        for mask in files_in(masks, PICTURES):
            drawn.setdefault(mask.stem, []).append(mask)
        for image in files_in(images, PICTURES):
            names = (image.stem, *(f"{image.stem}{end}" for end in _ENDS))
            found = [mask for name in names for mask in drawn.pop(name, [])]
            if len(found) == 1:
                group = patient_of(image.stem, self.patient)
                finding.add(image.stem, {"image": image, "label": found[0]}, group, split)
            elif found:
                finding.fail(image.stem, f"has {len(found)} masks in {masks.name}; keep one")
            else:
                finding.fail(
                    image.stem, f"{image.name} has no mask in {masks.name} of the same name"
                )
        for name in drawn:
            finding.fail(name, f"mask {name} has no picture in {images.name}; remove or add it")

    def load(self, case: RawCase) -> PreparedCase:
        label = _read_mask(file_of(case.files, "label"))
        check_classes(label, self.label_names, "classes.txt (one name a line, background first)")
        image = self._picture(file_of(case.files, "image"), label.array.shape)
        grid = native_grid(label)
        return PreparedCase(
            case.name,
            z_score(image_onto_grid(image, grid)),
            label_onto_grid(label.array, grid),
            prepared_spacing(grid),
            grid,
        )

    def _picture(self, file: Path, shape: tuple[int, ...]) -> NDArray[Any]:
        colours = read_colours(file, shape)
        return colours if len(self.channel_names) == 3 else colours[:1]

    def split(self, cases: Sequence[RawCase], seed: int) -> dict[str, list[str]]:
        return divide(cases, _SHARES, seed)

    @property
    def settings(self) -> dict[str, Any]:
        return {"resampling": "none", "intensity": "z-score of each channel"}


def _pairs_of_folders(raw: Path) -> Iterator[tuple[Path, Path, str | None]]:
    """Yield folders of pictures and of masks that belong together, and the split they are of."""
    places: list[tuple[Path, str | None]] = [(raw, None)]
    places += [(raw / name, split) for split, names in _SPLITS.items() for name in names]
    for place, split in places:
        images = next((place / name for name in _IMAGES if (place / name).is_dir()), None)
        masks = next((place / name for name in _MASKS if (place / name).is_dir()), None)
        if images is not None and masks is not None:
            yield images, masks, split


def _class_names(raw: Path) -> list[str]:
    file = raw / "classes.txt"
    if not file.is_file():
        return ["background", "foreground"]
    try:
        names = [line.strip() for line in file.read_text(encoding="utf-8").splitlines()]
    except (OSError, ValueError) as error:
        raise ValueError(f"{shown(file)}: cannot be read as text ({error})") from error
    names = [name for name in names if name]
    if not 2 <= len(names) <= 256:
        raise ValueError(f"{shown(file)}: expected 2 to 256 names, one a line, got {len(names)}")
    return names


def _channels(cases: Sequence[RawCase]) -> tuple[str, ...]:
    for case in cases:
        try:
            if has_colours(case.files["image"]):
                return ("red", "green", "blue")
        except CaseError:
            continue
    return ("grey",)


def _read_mask(file: Path) -> Volume:
    if file.suffix.lower() not in (".jpg", ".jpeg"):
        return read_label(file)
    grey = read_picture(file).max(axis=0) > _JPEG_THRESHOLD
    return Volume(grey.astype(np.uint8), None, None, file)
