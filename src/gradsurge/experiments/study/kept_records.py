"""The records of a study: which of them still answer the recipe, and what they tell of searches."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gradsurge.experiments.recipes import Recipe
from gradsurge.experiments.runs.outcome import read_outcome
from gradsurge.experiments.runs.run_folder import CONFIG, OUTCOME, has_ended, read_config
from gradsurge.experiments.study.case_voxels import ON_PREPARED
from gradsurge.experiments.study.digests import trained_digest
from gradsurge.experiments.study.planned_run import PlannedRun
from gradsurge.experiments.study.record import Record, read_record, read_records, record_file
from gradsurge.experiments.study.selection import Selection, Tried


@dataclass
class KeptRecords:
    """Records of a folder, for one recipe at one scale.

    Attributes:
        recipe: the whole recipe.
        folder: of the study.
        problems: a line for each file that is no record.
    """

    recipe: Recipe
    folder: Path
    problems: list[str] = field(default_factory=list)

    def all(self) -> list[Record]:
        """Read the records of this recipe and scale; others are passed over."""
        found, self.problems = read_records(self.folder)
        return [record for record in found if self._is_ours(record)]

    def of(self, run: PlannedRun) -> Record | None:
        """Return the record of a run if it answers what is asked for; None if it must be made."""
        record = self.read(run.variant.name, run.name)
        if record is None or record.wanted not in self._answers(run):
            return None
        return record if self._is_of_weights(record, run.folder(self.folder)) else None

    def read(self, variant: str, run: str) -> Record | None:
        """Return a record of this recipe and scale; None if there is none that can be read."""
        file = record_file(self.folder, variant, run)
        if not file.is_file():
            return None
        try:
            record = read_record(file)
        except ValueError:
            return None
        return record if self._is_ours(record) else None

    def of_runs(self, runs: Iterable[PlannedRun]) -> list[Record]:
        """Return the records of those runs that have one."""
        return [record for run in runs if (record := self.of(run)) is not None]

    def selection(self, searched: str, points: Sequence[Mapping[str, Any]]) -> Selection | None:
        """Return the selection that records tell of; None if none tells of these very points.

        Args:
            searched: name of the variant that was searched.
            points: of the recipe's search, in order.
        """
        stored = json.loads(json.dumps(list(points)))  # lists for tuples, as a record has them
        told = [
            record
            for record in self.all()
            if record.selection.get("of") == searched
            and [one["point"] for one in record.selection["tried"]] == stored
            and self._is_wanted(record)
        ]
        if not told:
            return None
        latest = max(told, key=lambda record: record.provenance.get("date", ""))
        told_scores = ((one["dice"], one.get("nll")) for one in latest.selection["tried"])
        tried = [Tried(point, *scores) for point, scores in zip(points, told_scores, strict=True)]
        return Selection.among(tried, self.recipe.search)

    def _is_wanted(self, record: Record) -> bool:
        """Tell whether a record answers the recipe as it is now: its tries were of such runs."""
        try:
            variant = self.recipe.variant(record.variant)
            run = PlannedRun(variant, record.run, record.point)
            return record.wanted in self._answers(run)
        except ValueError:  # the recipe has no such row, or searches something else
            return False

    def _answers(self, run: PlannedRun) -> set[str]:
        """Return the digests of a wish, of now and as older records have it."""
        return {run.wanted(self.recipe, as_said=said) for said in (False, True)}

    def _is_ours(self, record: Record) -> bool:
        """Tell whether a record is of this study, measured on the voxels that count now."""
        prepared = self.recipe.data.dataset in ON_PREPARED  # once it was whole scans
        if prepared and record.measured.likelihood != "logits":
            return False
        return (record.recipe, record.scale) == (self.recipe.name, self.recipe.scale)

    def _is_of_weights(self, record: Record, folder: Path) -> bool:
        """Tell whether the run's weights are those measured; a run that is gone cannot object."""
        if not (folder / CONFIG).is_file() or not has_ended(folder):
            return not (folder / CONFIG).is_file()
        try:
            step = read_outcome(folder / OUTCOME).step
            return record.trained == trained_digest(read_config(folder), step)
        except ValueError:
            return False
