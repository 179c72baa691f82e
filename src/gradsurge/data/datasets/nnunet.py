"""Any raw folder of nnU-Net v2."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from gradsurge.data.case_error import CaseError, shown
from gradsurge.data.datasets.dataset import Dataset, Found, RawCase
from gradsurge.data.datasets.finding import Finding
from gradsurge.data.datasets.nnunet_description import Description, read_description
from gradsurge.data.datasets.nnunet_files import find_part, in_one_file
from gradsurge.data.datasets.nnunet_intensity import (
    Foreground,
    ct_channels,
    measure_foreground,
    normalised,
    read_fingerprint,
)
from gradsurge.data.datasets.nnunet_splits import Fold, beside, divide_by_fold, read_fold
from gradsurge.data.datasets.scans import check_classes, file_of, read_channels, read_colours
from gradsurge.data.grid import Grid
from gradsurge.data.labels import read_label
from gradsurge.data.prepared import PreparedCase
from gradsurge.data.preprocessing import (
    at_spacing,
    bounding_box,
    cropped,
    image_onto_grid,
    label_onto_grid,
    native_grid,
    nonzero_region,
    prepared_spacing,
    scaled_box,
    turned,
    turned_shape,
)
from gradsurge.data.splitting import divide
from gradsurge.data.volume import Volume

_SHARES = {"train": 64, "validation": 16, "test": 20}


class NnUnet(Dataset):
    """Channels, labels, regions, ignore label and folds as the folder's own files say.

    What they say is known after `find`. Volumes are turned to RAS+ and keep their voxels; empty
    labels are allowed. Intensities go by the names of the channels, as in nnU-Net: z-score of
    each case by default; "CT" is cut off at percentiles of the data set's foreground, taken from
    nnU-Net's `dataset_fingerprint.json` if that is there and measured on up to 40 cases if not.
    Cases in labelsTs are the test set; `splits_final.json` divides the others where it is found,
    chance (64 / 16 / 20 %) where not.

    Args:
        spacing: mm to resample to, along the axes right, front, head; None keeps each case's own.
        crop: "nonzero" cuts to what is not 0 in any channel and z-scores inside, as nnU-Net does
            for skulls removed; "none" keeps everything.
        splits: a `splits_final.json` elsewhere.
        fold: which of its folds.
        patient: regular expression whose first group names the patient in a case's name.
    """

    name: ClassVar[str] = "nnunet"

    def __init__(
        self,
        spacing: Sequence[float] | None = None,
        crop: Literal["none", "nonzero"] = "none",
        splits: Path | None = None,
        fold: int = 0,
        patient: str | None = None,
    ) -> None:
        if spacing is not None and not all(np.isfinite(s) and s > 0 for s in spacing):
            raise ValueError(f"spacing: expected mm above 0, got {tuple(spacing)}")
        if crop not in ("none", "nonzero"):
            raise ValueError(f"crop: expected 'none' or 'nonzero', got {crop!r}")
        self.spacing = None if spacing is None else tuple(float(s) for s in spacing)
        self.crop, self.splits, self.fold, self.patient = crop, splits, fold, patient
        self._fold: Fold | None = None
        self._foreground: dict[int, Foreground] = {}

    def find(self, raw: Path) -> Found:
        description = read_description(raw / "dataset.json")
        self._describe(description)
        finding = Finding(raw)
        find_part(raw, "Tr", description, finding, patient=self.patient)
        if (raw / "labelsTs").is_dir():
            find_part(raw, "Ts", description, finding, patient=self.patient)
        found = finding.found(f"<case>_0000{description.ending} in imagesTr")
        self.dimensions = self._axes_of(found.cases)
        if self.spacing is not None and len(self.spacing) != self.dimensions:
            raise ValueError(f"spacing: expected {self.dimensions} numbers, got {self.spacing}")
        file = self.splits or beside(raw, "splits_final.json")
        if file is None and self.fold:
            raise ValueError(f"fold: {self.fold} was asked for, but there is no splits_final.json")
        self._fold = None if file is None else read_fold(file, self.fold)
        self._foreground = self._intensities(raw, found.cases)
        return found

    def load(self, case: RawCase) -> PreparedCase:
        image, label = self._read(case)
        inside = nonzero_region(image) if self.crop == "nonzero" else None
        grid = self._grid(label, inside)
        image = normalised(image, self.channel_names, self._foreground, inside)
        return PreparedCase(
            case.name,
            image_onto_grid(image, grid),
            label_onto_grid(label.array, grid),
            prepared_spacing(grid),
            grid,
        )

    def split(self, cases: Sequence[RawCase], seed: int) -> dict[str, list[str]]:
        if self._fold is not None:
            return divide_by_fold(cases, self._fold)
        return divide(cases, _SHARES, seed)

    @property
    def split_settings(self) -> dict[str, Any]:
        return {} if self._fold is None else {k: sorted(v) for k, v in self._fold._asdict().items()}

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "orientation": "RAS+",
            "spacing": self.spacing if self.spacing is None else list(self.spacing),
            "crop": self.crop,
            "resampling": "cubic, labels linear a class",
            "intensity": {str(i): f._asdict() for i, f in self._foreground.items()} or "by name",
            "regions_class_order": list(self._description.region_order),
        }

    def _describe(self, description: Description) -> None:
        self._description = description
        self.channel_names = description.channels
        self.label_names = description.names
        self.label_sets = description.sets
        self.ignore_label = description.ignore

    def _axes_of(self, cases: Sequence[RawCase]) -> int:
        if self._description.ending == ".png":
            return 2
        for case in cases:
            try:
                return read_label(case.files["label"]).array.ndim
            except CaseError:
                continue
        return 3

    def _read(self, case: RawCase) -> tuple[NDArray[np.float32], Volume]:
        label = read_label(file_of(case.files, "label"))
        if label.array.ndim != self.dimensions:
            raise CaseError(
                f"{shown(label.source)}: has {label.array.ndim} axes, the data set's other labels "
                f"{self.dimensions}; use folders of their own"
            )
        ignored = () if self.ignore_label is None else (self.ignore_label,)
        check_classes(label, (*self.label_names, *ignored), "dataset.json")
        files = [file for role, file in case.files.items() if role != "label"]
        if in_one_file(len(files), self._description):
            return read_colours(files[0], label.array.shape).astype(np.float32), label
        return read_channels(files, label), label

    def _grid(self, label: Volume, inside: NDArray[np.bool_] | None) -> Grid:
        grid = native_grid(label)
        kept = None if inside is None else turned(inside | (label.array > 0), grid.axes, grid.flips)
        box = None if kept is None else bounding_box(kept)
        if self.spacing is not None:
            grid = at_spacing(grid, self.spacing, label)
        if box is None:
            return grid
        return cropped(grid, scaled_box(box, turned_shape(grid), grid.resampled_shape))

    def _intensities(self, raw: Path, cases: Sequence[RawCase]) -> dict[int, Foreground]:
        channels = ct_channels(self.channel_names)
        if not channels:
            return {}
        file = beside(raw, "dataset_fingerprint.json")
        if file is not None:
            return read_fingerprint(file, channels)

        def read(case: RawCase) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
            image, label = self._read(case)
            return image, (label.array > 0) & (label.array != (self.ignore_label or 0))

        return measure_foreground([c for c in cases if c.split is None], channels, read)
