"""KiTS19, 21 and 23: kidney tumours in abdominal CT (Heller et al., arXiv:1904.00445)."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gradsurge.data.balanced_splitting import divide_balanced
from gradsurge.data.case_error import CaseError, shown
from gradsurge.data.datasets.dataset import Dataset
from gradsurge.data.datasets.finding import Finding, folders_in
from gradsurge.data.datasets.inputs import InputKind
from gradsurge.data.datasets.raw_case import Found, RawCase
from gradsurge.data.datasets.scans import check_classes, file_of, first_channel, read_channels
from gradsurge.data.geometry import check_geometry
from gradsurge.data.grid import Grid
from gradsurge.data.labels import read_label
from gradsurge.data.prepared import PreparedCase, PreparedImage
from gradsurge.data.preprocessing import (
    bounding_box,
    image_onto_grid,
    label_onto_grid,
    prepared_spacing,
    region_grid,
    window,
    z_score,
)
from gradsurge.data.splitting import note_other_sizes, published_sizes
from gradsurge.data.volume import Volume

_CLASSES = range(4)  # background, kidney, tumour, cyst
_TUMOUR = 2
_LABELS = ("segmentation.nii.gz", "aggregated_MAJ_seg.nii.gz")
_LEVELS = ("", "dataset", "data", "kits23/dataset", "kits21/data", "kits19/data")
_UNLABELLED = range(210, 300)  # KiTS19's test cases, whose labels were never published
_SPECK = 100.0  # mm^3; smaller pieces are slips of the drawing, not tumours to be counted


class Kits(Dataset):
    """RAS+, 1.5 mm, [-58, 302] HU, z-score, the region round both kidneys; tumour as foreground.

    The region is the box round everything labelled (kidneys, tumours, cysts) and 60 mm more on
    each side, as far as the scan reaches: that makes the median of our four sample labels 219 x
    134 x 159 voxels, where the paper has 218 x 130 x 160. Mean and deviation are the whole scan's,
    so that a scan without label, of which everything is kept, has the same intensities. A labelled
    case without kidneys cannot be prepared. 192 / 50 / 247 cases, balanced for number and then
    volume of the tumours, for which `split` reads every label.
    """

    name: ClassVar[str] = "kits"
    dimensions = 3
    channel_names = ("CT",)
    label_names = {0: "background", 1: "tumour"}  # noqa: RUF012
    sizes: ClassVar[dict[str, int]] = {"train": 192, "validation": 50, "test": 247}
    spacing: ClassVar[tuple[float, float, float]] = (1.5, 1.5, 1.5)
    hounsfield: ClassVar[tuple[float, float]] = (-58.0, 302.0)
    margin: ClassVar[int] = 40  # voxels: 60 mm

    def find(self, raw: Path) -> Found:
        finding = Finding(raw)
        for level in _LEVELS:
            for folder in folders_in(raw / level, r"case_[0-9]{5}"):
                self._add(folder, finding)
        return finding.found(
            "folders case_NNNNN with imaging.nii.gz and segmentation.nii.gz (or "
            "aggregated_MAJ_seg.nii.gz), directly or in dataset/ or data/"
        )

    def _add(self, folder: Path, finding: Finding) -> None:
        image = folder / "imaging.nii.gz"
        label = next((folder / n for n in _LABELS if (folder / n).is_file()), None)
        if label is None and int(folder.name[-5:]) in _UNLABELLED:
            return
        if label is None:
            finding.fail(folder.name, f"none of {' and '.join(_LABELS)} is there; get it again")
        elif not image.is_file():
            finding.fail(
                folder.name,
                "imaging.nii.gz is missing; run the download script that comes with KiTS",
            )
        else:
            finding.add(folder.name, {"image": image, "label": label})

    def load(self, case: RawCase) -> PreparedCase:
        label = _read_label(case)
        image, grid = self._image(case, label)
        tumour = (label.array == _TUMOUR).view(np.uint8)
        return image.with_label(label_onto_grid(tumour, grid))

    def load_image(self, case: RawCase) -> PreparedImage:
        return self._image(case, _read_label(case) if "label" in case.files else None)[0]

    def _image(self, case: RawCase, label: Volume | None) -> tuple[PreparedImage, Grid]:
        scan = read_channels([file_of(case.files, "image")], self.dimensions)
        if label is not None:
            check_geometry(scan, label)
        grid = self.region_of_interest(first_channel(scan), label)
        scored = image_onto_grid(z_score(window(scan.array, *self.hounsfield)), grid)
        return PreparedImage(case.name, scored, prepared_spacing(grid), grid), grid

    def region_of_interest(self, scan: Volume, label: Volume | None) -> Grid:
        """Return the grid of the region round both kidneys; the whole scan without a label.

        Raises:
            CaseError: nothing is labelled.
        """
        if label is not None and not label.array.any():
            raise CaseError(
                f"{shown(label.source)}: is empty, so there is no region round the kidneys; get "
                f"the file again from its publisher"
            )
        region = None if label is None else label.array
        return region_grid(scan, self.spacing, region, self.margin)

    @property
    def inputs(self) -> InputKind:
        return replace(super().inputs, in_folder="imaging.nii.gz")

    def split(self, cases: Sequence[RawCase], seed: int) -> dict[str, list[str]]:
        return self.watched_split(cases, seed, lambda *_: None)

    def watched_split(
        self, cases: Sequence[RawCase], seed: int, on_case: Callable[[int, int], None]
    ) -> dict[str, list[str]]:
        strata: dict[str, tuple[int, float]] = {}
        with ThreadPoolExecutor(4) as pool:  # unpacking gzip takes the time, and needs no GIL
            for case, found in zip(cases, pool.map(_tumours_of, cases), strict=True):
                strata[case.name] = found
                on_case(len(strata), len(cases))
        split = divide_balanced(strata, published_sizes(len(cases), self.sizes), seed)
        note_other_sizes(self.name, len(cases), split, self.sizes)
        return split

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "orientation": "RAS+",
            "spacing": list(self.spacing),
            "crop": f"everything labelled and {self.margin} voxels",
            "resampling": "cubic, labels linear a class",
            "hounsfield": list(self.hounsfield),
            "intensity": "z-score of the whole scan",
            "foreground": [_TUMOUR],
        }


def tumours(label: NDArray[Any], spacing: Sequence[float]) -> tuple[int, float]:
    """Return the number of tumours in a KiTS label, and their volume together in mm³."""
    import cc3d

    mask = label == _TUMOUR
    box = bounding_box(mask)
    if box is None:
        return 0, 0.0
    inside = mask[tuple(slice(*span) for span in box)]
    # Bytes, and no view: of others cc3d 4.1.1 joins, divides and loses components, or fails.
    pieces = cc3d.connected_components(np.ascontiguousarray(inside).view(np.uint8))
    volumes = np.bincount(pieces.ravel())[1:] * float(np.prod(spacing))
    counted = volumes[volumes >= _SPECK]
    return len(counted), float(counted.sum())


def _read_label(case: RawCase) -> Volume:
    label = read_label(file_of(case.files, "label"))
    check_classes(label, _CLASSES, "KiTS")
    return label


def _tumours_of(case: RawCase) -> tuple[int, float]:
    """Return what the case is ranked by; a damaged label is reported when it is loaded."""
    try:
        label = read_label(file_of(case.files, "label"))
    except CaseError:
        return 0, 0.0
    return tumours(label.array, label.spacing or (1.0, 1.0, 1.0))
