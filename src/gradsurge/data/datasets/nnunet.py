"""Any raw folder of nnU-Net v2."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from gradsurge.data.datasets.dataset import Dataset
from gradsurge.data.datasets.finding import Finding, check_patient
from gradsurge.data.datasets.inputs import InputKind
from gradsurge.data.datasets.nnunet_description import (
    Description,
    read_description,
    stored_description,
)
from gradsurge.data.datasets.nnunet_files import find_part, input_kind
from gradsurge.data.datasets.nnunet_intensity import Foreground, find_foreground, normalised
from gradsurge.data.datasets.nnunet_reading import (
    axes_of,
    merged_label,
    read_case_label,
    read_case_scan,
)
from gradsurge.data.datasets.nnunet_spacing import check_spacing, median_spacing
from gradsurge.data.datasets.nnunet_splits import Fold, divide_by_fold, find_fold
from gradsurge.data.datasets.raw_case import Found, RawCase
from gradsurge.data.datasets.scans import first_channel
from gradsurge.data.geometry import check_geometry
from gradsurge.data.grid import Grid
from gradsurge.data.prepared import PreparedCase, PreparedImage
from gradsurge.data.preprocessing import (
    image_onto_grid,
    label_onto_grid,
    nonzero_region,
    prepared_spacing,
    region_grid,
)
from gradsurge.data.splitting import divide
from gradsurge.data.volume import Volume

if TYPE_CHECKING:  # the store imports the data sets
    from gradsurge.data.store.dataset_file import DatasetFile

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
        spacing: mm to resample to, along the axes right, front, head; "median" for what nnU-Net
            chooses, see `median_spacing`; None keeps each case's own.
        crop: "nonzero" cuts to what is not 0 in any channel and z-scores inside, as nnU-Net does
            for skulls removed; "none" keeps everything.
        splits: a `splits_final.json` elsewhere.
        fold: which of its folds.
        patient: regular expression whose first group names the patient in a case's name.
        merge: a name for all foreground classes taken together as one.
    """

    name: ClassVar[str] = "nnunet"

    def __init__(
        self,
        spacing: Sequence[float] | Literal["median"] | None = None,
        crop: Literal["none", "nonzero"] = "none",
        splits: Path | None = None,
        fold: int = 0,
        patient: str | None = None,
        merge: str | None = None,
    ) -> None:
        if crop not in ("none", "nonzero"):
            raise ValueError(f"crop: expected 'none' or 'nonzero', got {crop!r}")
        if merge is not None and merge.strip() in ("", "background"):
            raise ValueError(f"merge: expected a name for the foreground, got {merge!r}")
        if fold < 0:
            raise ValueError(f"fold: expected a whole number of 0 or above, got {fold}")
        check_patient(patient)
        self.median = spacing == "median"
        self.spacing = None if spacing in (None, "median") else check_spacing(spacing)
        self.crop, self.splits, self.fold, self.patient = crop, splits, fold, patient
        self.merge = merge
        self._merged: list[int] | None = None  # class numbers of the source's labels
        self._fold: Fold | None = None
        self._foreground: dict[int, Foreground] = {}

    def find(self, raw: Path) -> Found:
        description = self._raw_description = read_description(raw / "dataset.json")
        if self.merge is None:
            self._describe(description)
        else:
            self._merged = [number for number in description.names if number != 0]
            self._describe(description.merged(self.merge))
        finding = Finding(raw)
        find_part(raw, "Tr", description, finding, patient=self.patient)
        if (raw / "labelsTs").is_dir():
            find_part(raw, "Ts", description, finding, patient=self.patient)
        found = finding.found(f"<case>_0000{description.ending} in imagesTr")
        self.dimensions = axes_of(found.cases, description)
        if self.median:
            self.spacing = median_spacing([c for c in found.cases if c.split is None])
        if self.spacing is not None and len(self.spacing) != self.dimensions:
            raise ValueError(f"spacing: expected {self.dimensions} numbers, got {self.spacing}")
        self._fold = find_fold(raw, self.splits, self.fold)
        self._foreground = find_foreground(
            raw, found.cases, self.channel_names, self._scan_and_foreground
        )
        return found

    def load(self, case: RawCase) -> PreparedCase:
        label = self._label(case)
        image, grid = self._image(case, label)
        return image.with_label(label_onto_grid(label.array, grid))

    def load_image(self, case: RawCase) -> PreparedImage:
        needs_label = self.crop == "nonzero" and "label" in case.files
        return self._image(case, self._label(case) if needs_label else None)[0]

    def _image(self, case: RawCase, label: Volume | None) -> tuple[PreparedImage, Grid]:
        scan = self._scan(case)
        if label is not None:
            check_geometry(scan, label)
        inside = nonzero_region(scan.array) if self.crop == "nonzero" else None
        kept = inside
        if label is not None and inside is not None:  # what was drawn beyond stays
            kept = inside | (label.array > 0)
        grid = region_grid(first_channel(scan), self.spacing, kept)
        values = normalised(scan.array, self.channel_names, self._foreground, inside)
        prepared = image_onto_grid(values, grid)
        return PreparedImage(case.name, prepared, prepared_spacing(grid), grid), grid

    @property
    def inputs(self) -> InputKind:
        return input_kind(self._description, self.dimensions)

    @property
    def title(self) -> str:
        return self._description.title

    @classmethod
    def of_store(cls, facts: "DatasetFile") -> Self:
        settings = facts.settings
        dataset = cls(settings["spacing"], settings["crop"], merge=settings["merge"])
        dataset.dimensions = facts.dimensions
        dataset._merged = settings.get("foreground")
        dataset._describe(stored_description(facts))
        stored = settings["intensity"]
        if isinstance(stored, Mapping):
            dataset._foreground = {int(i): Foreground(**f) for i, f in stored.items()}
        return dataset

    def split(self, cases: Sequence[RawCase], seed: int) -> dict[str, list[str]]:
        if self._fold is not None:
            return divide_by_fold(cases, self._fold)
        return divide(cases, _SHARES, seed)

    @property
    def split_settings(self) -> dict[str, Any]:
        return {} if self._fold is None else {k: sorted(v) for k, v in self._fold._asdict().items()}

    @property
    def settings(self) -> dict[str, Any]:
        merged = {} if self._merged is None else {"foreground": self._merged}
        return merged | {
            "orientation": "RAS+",
            "spacing": self.spacing if self.spacing is None else list(self.spacing),
            "crop": self.crop,
            "merge": self.merge,
            "resampling": "cubic, labels linear a class",
            "intensity": {str(i): f._asdict() for i, f in self._foreground.items()} or "by name",
            "regions_class_order": list(self._description.region_order),
            "ending": self._description.ending,
        }

    def _describe(self, description: Description) -> None:
        self._description = description
        self.channel_names = description.channels
        self.label_names = description.names
        self.label_sets = description.sets
        self.ignore_label = description.ignore

    def _label(self, case: RawCase) -> Volume:
        declared = self._raw_description
        ignored = () if declared.ignore is None else (declared.ignore,)
        label = read_case_label(case, self.dimensions, (*declared.names, *ignored))
        return label if self.merge is None else merged_label(label, declared.ignore)

    def _scan(self, case: RawCase) -> Volume:
        return read_case_scan(case, self.dimensions, self._description)

    def _scan_and_foreground(self, case: RawCase) -> tuple[NDArray[np.float32], NDArray[np.bool_]]:
        scan, label = self._scan(case), self._label(case)
        check_geometry(scan, label)
        return scan.array, (label.array > 0) & (label.array != (self.ignore_label or 0))
