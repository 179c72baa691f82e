"""INbreast: masses in mammograms (Moreira et al., Acad Radiol 19(2), 2012)."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

from gradsurge.data.case_error import CaseError, printable, shown
from gradsurge.data.datasets.dataset import Dataset
from gradsurge.data.datasets.finding import Finding, files_in, first_folder
from gradsurge.data.datasets.inputs import InputKind
from gradsurge.data.datasets.osirix import draw_polygons, read_polygons
from gradsurge.data.datasets.raw_case import Found, RawCase
from gradsurge.data.datasets.scans import file_of, scan_of
from gradsurge.data.formats.dicom import read_dicom
from gradsurge.data.grid import Grid
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

if TYPE_CHECKING:  # the store imports the data sets
    from gradsurge.data.store.dataset_file import DatasetFile

_FILE = re.compile(r"(?P<id>[0-9]+)_(?P<patient>[^_]+)_MG_[LR]_[A-Za-z]+_ANON", re.IGNORECASE)
_MASS = "Mass"
Breasts = Literal["masses", "all"]


class Inbreast(Dataset):
    """Mammograms, masses drawn at native resolution, then both made 512 x 512 by area.

    The sides are shrunk by different factors, as in the paper. Views and sides of one patient lie
    in one split: 68 / 17 / 22 images.

    Args:
        breasts: "masses" leaves out images without a mass; "all" keeps them, with empty labels.
    """

    name: ClassVar[str] = "inbreast"
    dimensions = 2
    channel_names = ("mammogram",)
    label_names = {0: "background", 1: "mass"}  # noqa: RUF012
    sizes: ClassVar[dict[str, int]] = {"train": 68, "validation": 17, "test": 22}
    resolution: ClassVar[tuple[int, int]] = (512, 512)

    def __init__(self, breasts: Breasts = "masses") -> None:
        if breasts not in ("masses", "all"):
            raise ValueError(f"breasts: expected 'masses' or 'all', got {breasts!r}")
        self.breasts = breasts

    def find(self, raw: Path) -> Found:
        finding = Finding(raw)
        root = first_folder(
            [raw / "AllDICOMs", raw / "INbreast Release 1.0" / "AllDICOMs"],
            "a folder AllDICOMs, and AllXML beside it, as published",
        ).parent
        drawn = {f.stem: f for f in files_in(root / "AllXML", [".xml"])}
        seen = set()
        for image in files_in(root / "AllDICOMs", [".dcm"]):
            match = _FILE.fullmatch(image.stem)
            if match is None:
                finding.fail(
                    image.name,
                    f"expected a name like 20586908_6c613a14b80a8591_MG_R_CC_ANON.dcm, got "
                    f"{printable(image.name)}",
                )
                continue
            seen.add(match["id"])
            self._add(match["id"], match["patient"], image, drawn.get(match["id"]), finding)
        for number in drawn.keys() - seen:
            finding.fail(number, f"AllXML/{number}.xml has no image in AllDICOMs; get it again")
        return finding.found("DICOM files in AllDICOMs")

    def _add(self, name: str, patient: str, image: Path, xml: Path | None, into: Finding) -> None:
        try:
            has_mass = xml is not None and bool(read_polygons(xml, _MASS))
        except CaseError as error:
            into.fail(name, str(error))
            return
        if has_mass or self.breasts == "all":
            files = {"image": image} if xml is None else {"image": image, "label": xml}
            into.add(name, files, group=patient)

    def load(self, case: RawCase) -> PreparedCase:
        image, grid = self._image(case)
        xml = case.files.get("label")
        masses = [] if xml is None else read_polygons(xml, _MASS)
        rows, columns = grid.source_shape
        label = label_onto_grid(draw_polygons(masses, (rows, columns)), grid, "area")
        if masses and xml is not None and not label.any():
            raise CaseError(
                f"{shown(xml)}: nothing is left of its masses: they lie outside the {columns}x"
                f"{rows} pixels of the image, or are points; check that both are of one image, or "
                f"remove the file"
            )
        return image.with_label(label)

    def load_image(self, case: RawCase) -> PreparedImage:
        return self._image(case)[0]

    def _image(self, case: RawCase) -> tuple[PreparedImage, Grid]:
        file = file_of(case.files, "image")
        scan = scan_of(read_dicom(file), file)
        grid = resized(native_grid(scan), self.resolution)
        spacing = (1.0, 1.0) if scan.spacing is None else prepared_spacing(grid)
        scored = z_score(image_onto_grid(scan.array[None], grid, "area"))
        return PreparedImage(case.name, scored, spacing, grid), grid

    @property
    def inputs(self) -> InputKind:
        return InputKind(self.channel_names, (".dcm", ".dicom"))

    @classmethod
    def of_store(cls, facts: "DatasetFile") -> Self:
        return cls(facts.settings["breasts"])

    def split(self, cases: Sequence[RawCase], seed: int) -> dict[str, list[str]]:
        return divide_as_published(self.name, cases, self.sizes, seed)

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "resolution": list(self.resolution),
            "resampling": "area",
            "intensity": "z-score",
            "breasts": self.breasts,
        }
