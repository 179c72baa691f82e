"""The records of a folder, sorted by what they are records of."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradsurge.data.case_error import shown
from gradsurge.experiments.recipes.requests import SEED
from gradsurge.experiments.study.record import RECORDS, Record, read_records
from gradsurge.experiments.study.study_folder import dataset_of, study_title

_WHOLE = "paper"  # the scale of which nobody needs to be told


@dataclass(frozen=True)
class StudyRecords:
    """Records of one recipe at one scale.

    Attributes:
        recipe: its name.
        scale: of the study.
        records: in the order of their variants and runs.
        folder: they were read from; bins of reliability curves lie beside them.
        dataset: name of the data set; None where the folder does not tell.
    """

    recipe: str
    scale: str
    records: tuple[Record, ...]
    folder: Path
    dataset: str | None = None

    @property
    def name(self) -> str:
        """What a program calls the study."""
        return self._at_scale(self.recipe)

    @property
    def title(self) -> str:
        """What figures call the study."""
        return self._at_scale(study_title(self.folder, self.recipe))

    def of(self, variant: str) -> list[Record]:
        """Return the records of a variant, none if it has none."""
        return [record for record in self.records if record.variant == variant]

    @property
    def variants(self) -> list[str]:
        """Names of the variants that have records."""
        return list(dict.fromkeys(record.variant for record in self.records))

    def _at_scale(self, name: str) -> str:
        return name if self.scale == _WHOLE else f"{name}, {self.scale} scale"


def read_studies(folder: Path) -> tuple[list[StudyRecords], list[str]]:
    """Return the studies of a folder of gradsurge reproduce, and a line for each bad record.

    A grid that was tried again may have come to a better point: records of the former one are
    left out.

    Raises:
        ValueError: there is no record.
    """
    found, problems = read_records(folder)
    if not found:
        bad = f"; {problems[0]}" if problems else ""
        raise ValueError(
            f"{shown(folder)}: no record in {RECORDS}/; make some with gradsurge reproduce{bad}"
        )
    grouped: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for record in found:
        grouped[record.recipe, record.scale].append(record)
    dataset = dataset_of(folder)
    studies = [
        StudyRecords(*key, tuple(_latest(of)), folder, dataset) for key, of in grouped.items()
    ]
    return studies, problems


def _latest(records: Sequence[Record]) -> list[Record]:
    """Return the records at the last point that a grid came to, of each variant."""
    last: dict[str, Record] = {}
    for record in sorted(records, key=lambda r: r.provenance.get("date", "")):
        last[record.variant] = record
    return [
        record
        for record in records
        if record.selection.get("kind") != "grid" or _point(record) == _point(last[record.variant])
    ]


def _point(record: Record) -> dict[str, Any]:
    return {name: value for name, value in record.point.items() if name != SEED}
