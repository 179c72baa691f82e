"""The records of a folder, sorted by what they are records of."""

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from gradsurge.data.case_error import shown
from gradsurge.experiments.study.record import RECORDS, Record, read_records

_WHOLE = "paper"  # the scale of which nobody needs to be told


@dataclass(frozen=True)
class StudyRecords:
    """Records of one recipe at one scale.

    Attributes:
        recipe: its name.
        scale: of the study.
        records: in the order of their variants and runs.
    """

    recipe: str
    scale: str
    records: tuple[Record, ...]

    @property
    def title(self) -> str:
        """What figures call the study."""
        return self.recipe if self.scale == _WHOLE else f"{self.recipe}, {self.scale} scale"

    def of(self, variant: str) -> list[Record]:
        """Return the records of a variant, none if it has none."""
        return [record for record in self.records if record.variant == variant]

    @property
    def variants(self) -> list[str]:
        """Names of the variants that have records."""
        return list(dict.fromkeys(record.variant for record in self.records))


def read_studies(folder: Path) -> tuple[list[StudyRecords], list[str]]:
    """Return the studies of a folder of gradsurge reproduce, and a line for each bad record.

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
    return [StudyRecords(*key, tuple(records)) for key, records in grouped.items()], problems
