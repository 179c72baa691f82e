"""Folders of pictures and masks, the way most two-dimensional data is kept."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from gradsurge.data.case_error import CaseError, printable, shown
from gradsurge.data.datasets.dataset import Dataset
from gradsurge.data.datasets.finding import Finding, check_patient, files_in, patient_of
from gradsurge.data.datasets.raw_case import Found, RawCase
from gradsurge.data.datasets.scans import check_classes, check_pixels, file_of, read_colours
from gradsurge.data.formats.picture import PICTURES, has_colours, read_picture
from gradsurge.data.grid import Grid
from gradsurge.data.labels import read_label
from gradsurge.data.prepared import PreparedCase, PreparedImage
from gradsurge.data.preprocessing import (
    image_onto_grid,
    label_onto_grid,
    native_grid,
    prepared_spacing,
    z_score,
)
from gradsurge.data.splitting import divide
from gradsurge.data.volume import Volume

if TYPE_CHECKING:  # the store imports the data sets
    from gradsurge.data.store.dataset_file import DatasetFile

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

    ``labels/`` is understood too, and folders train, val and test above them fix the split, which
    then begins the name of a case. Pictures are PNG, JPEG or TIFF; if one has colours, all get
    three channels. Masks hold 0 and 255, or class numbers. JPEG blurs: masks in it must be black
    and white, and are cut at 127. Nothing is resampled, each channel is z-scored, empty masks are
    allowed.

    Args:
        classes: names of the classes, background first; None reads them from ``classes.txt``, one
            a line, or takes background and foreground.
        patient: regular expression whose first group names the patient in a picture's name.
    """

    name: ClassVar[str] = "images"
    dimensions = 2
    tells_size = False

    def __init__(self, classes: Sequence[str] | None = None, patient: str | None = None) -> None:
        if classes is not None and not 2 <= len(classes) <= 256:
            raise ValueError(f"classes: expected 2 to 256 names, got {len(classes)}")
        check_patient(patient)
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
        drawn = _by_stem(files_in(masks, PICTURES))
        for stem, pictures in _by_stem(files_in(images, PICTURES)).items():
            name = stem if split is None else f"{split}_{stem}"  # equal names are usual there
            found = [m for end in ("", *_ENDS) for m in drawn.pop(f"{stem}{end}", [])]
            if len(pictures) > 1:
                listed = " and ".join(printable(p.name) for p in pictures)
                finding.fail(name, f"{listed} in {images.name} have one name; rename or remove one")
            elif len(found) == 1:
                group = name if self.patient is None else patient_of(stem, self.patient)
                finding.add(name, {"image": pictures[0], "label": found[0]}, group, split)
            elif found:
                listed = " and ".join(printable(m.name) for m in found)
                finding.fail(name, f"has {len(found)} masks in {masks.name}: {listed}; keep one")
            else:
                finding.fail(
                    name,
                    f"{printable(pictures[0].name)} has no mask of the same name in {masks.name}; "
                    f"add it, or remove the picture",
                )
        for name in drawn:
            finding.fail(name, f"mask {name} has no picture in {images.name}; remove or add it")

    def load(self, case: RawCase) -> PreparedCase:
        label = _read_mask(file_of(case.files, "label"), len(self.label_names))
        check_classes(label, self.label_names, "classes.txt (one name a line, background first)")
        image, grid = self._image(case)
        check_pixels(case.files["image"], grid.source_shape, label.array.shape)
        return image.with_label(label_onto_grid(label.array, grid))

    def load_image(self, case: RawCase) -> PreparedImage:
        return self._image(case)[0]

    def _image(self, case: RawCase) -> tuple[PreparedImage, Grid]:
        file = file_of(case.files, "image")
        picture = read_colours(file)[: len(self.channel_names)]
        grid = native_grid(Volume(picture[0], None, None, file))
        scored = z_score(image_onto_grid(picture, grid))
        return PreparedImage(case.name, scored, prepared_spacing(grid), grid), grid

    @classmethod
    def of_store(cls, facts: "DatasetFile") -> Self:
        dataset = cls([facts.label_names[n] for n in sorted(facts.label_names)])
        dataset.label_names = facts.label_names
        dataset.channel_names = tuple(facts.channel_names)
        return dataset

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


def _by_stem(files: Sequence[Path]) -> dict[str, list[Path]]:
    stems: dict[str, list[Path]] = {}
    for file in files:
        stems.setdefault(file.stem, []).append(file)
    return stems


def _read_mask(file: Path, classes: int) -> Volume:
    if file.suffix.lower() not in (".jpg", ".jpeg"):
        return read_label(file)
    grey = read_picture(file).max(axis=0)
    brightest = int(grey.max())
    if classes > 2 or 0 < brightest <= _JPEG_THRESHOLD:
        why = f"{classes} classes" if classes > 2 else f"values up to {brightest}"
        raise CaseError(
            f"{shown(file)}: is a JPEG, which blurs class numbers ({why}); save masks as PNG, or "
            f"as black and white (0 and 255)"
        )
    return Volume((grey > _JPEG_THRESHOLD).astype(np.uint8), None, None, file)
