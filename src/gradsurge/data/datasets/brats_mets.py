"""BraTS-METS: brain metastases in contrast-enhanced T1 (Maleki et al., 2025)."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gradsurge.data.datasets.dataset import Dataset
from gradsurge.data.datasets.finding import Finding, folders_in
from gradsurge.data.datasets.inputs import InputKind
from gradsurge.data.datasets.raw_case import Found, RawCase
from gradsurge.data.datasets.scans import (
    check_classes,
    file_of,
    first_channel,
    read_channels,
)
from gradsurge.data.geometry import check_geometry
from gradsurge.data.grid import Grid
from gradsurge.data.labels import read_label
from gradsurge.data.prepared import PreparedCase, PreparedImage
from gradsurge.data.preprocessing import (
    image_onto_grid,
    label_onto_grid,
    nonzero_region,
    prepared_spacing,
    region_grid,
    z_score,
)
from gradsurge.data.regions import binarise
from gradsurge.data.splitting import divide_as_published
from gradsurge.data.volume import Volume

_CASE = r"BraTS-MET-[0-9]{5}-[0-9]{3}"
_CLASSES = range(5)  # background, non-enhancing core, FLAIR hyperintensity, enhancing, cavity
_TUMOUR = (1, 3)


class BratsMets(Dataset):
    """T1c alone, RAS+, 1 mm, cropped to the brain, z-scored inside it; tumour as foreground.

    Foreground is the enhancing and the non-enhancing tumour; FLAIR hyperintensity and resection
    cavity are background, so the label of a treated case may be empty. As in nnU-Net, the volume
    is cropped to what is not 0 (the published median shape, 141 x 175 x 142, is that of the
    brain), mean and deviation are taken there, and outside stays 0. Time points of one patient
    lie in one split. From larger sets 156 / 44 / 251 cases are drawn, the others are in no split.
    """

    name: ClassVar[str] = "brats-mets"
    dimensions = 3
    channel_names = ("T1c",)
    label_names = {0: "background", 1: "tumour"}  # noqa: RUF012
    sizes: ClassVar[dict[str, int]] = {"train": 156, "validation": 44, "test": 251}
    spacing: ClassVar[tuple[float, float, float]] = (1.0, 1.0, 1.0)

    def find(self, raw: Path) -> Found:
        finding = Finding(raw)
        # Releases have the cases in the folder itself or one or two levels below.
        folders = [raw, *folders_in(raw, r"[^.].*")]
        folders += [below for f in folders[1:] for below in folders_in(f, r"[^.].*")]
        for folder in folders:
            for case in folders_in(folder, _CASE):
                self._add(case, finding)
        return finding.found("folders BraTS-MET-NNNNN-TTT with -t1c.nii.gz and -seg.nii.gz")

    def _add(self, folder: Path, finding: Finding) -> None:
        files = {
            role: folder / f"{folder.name}-{end}.nii.gz"
            for role, end in (("image", "t1c"), ("label", "seg"))
        }
        missing = [file.name for file in files.values() if not file.is_file()]
        if missing:
            finding.fail(folder.name, f"{' and '.join(missing)} missing; get the case again")
        else:
            finding.add(folder.name, files, group=folder.name.rpartition("-")[0])

    def load(self, case: RawCase) -> PreparedCase:
        label = _read_label(case)
        image, grid = self._image(case, label)
        return image.with_label(label_onto_grid(_tumour(label), grid))

    def load_image(self, case: RawCase) -> PreparedImage:
        return self._image(case, _read_label(case) if "label" in case.files else None)[0]

    def _image(self, case: RawCase, label: Volume | None) -> tuple[PreparedImage, Grid]:
        scan = read_channels([file_of(case.files, "image")], self.dimensions)
        brain = nonzero_region(scan.array)
        kept = brain
        if label is not None:  # a tumour that was drawn beyond the brain stays
            check_geometry(scan, label)
            kept = brain | (_tumour(label) > 0)
        grid = region_grid(first_channel(scan), self.spacing, kept)
        scored = image_onto_grid(z_score(scan.array, brain), grid)
        return PreparedImage(case.name, scored, prepared_spacing(grid), grid), grid

    @property
    def inputs(self) -> InputKind:
        return replace(super().inputs, in_folder="{case}-t1c.nii.gz")

    def split(self, cases: Sequence[RawCase], seed: int) -> dict[str, list[str]]:
        return divide_as_published(self.name, cases, self.sizes, seed)

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "orientation": "RAS+",
            "spacing": list(self.spacing),
            "crop": "nonzero",
            "resampling": "cubic, labels linear a class",
            "intensity": "z-score of what is not 0",
            "foreground": list(_TUMOUR),
        }


def _read_label(case: RawCase) -> Volume:
    label = read_label(file_of(case.files, "label"))
    check_classes(label, _CLASSES, "BraTS-METS")
    return label


def _tumour(label: Volume) -> NDArray[np.uint8]:
    return binarise(label.array, _TUMOUR).view(np.uint8)
