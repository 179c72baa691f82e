"""The runs of a study, as far as they are known: points come from searches, or from records."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from gradsurge.experiments.recipes import Recipe, Variant
from gradsurge.experiments.recipes.requests import SEED
from gradsurge.experiments.runs.run_folder import has_ended
from gradsurge.experiments.search.trial_runs import RUNS
from gradsurge.experiments.study.kept_records import KeptRecords
from gradsurge.experiments.study.planned_run import PlannedRun
from gradsurge.experiments.study.protocol import Protocol
from gradsurge.experiments.study.record import Record
from gradsurge.experiments.study.selection import Selection


@dataclass
class StudyPlan:
    """What is known of a study's runs.

    Attributes:
        recipe: the whole recipe.
        protocol: the tables that are asked for.
        records: of the study's folder.
    """

    recipe: Recipe
    protocol: Protocol
    records: KeptRecords
    _selections: dict[str, Selection] = field(default_factory=dict)

    @classmethod
    def of(cls, recipe: Recipe, protocol: Protocol, folder: Path) -> "StudyPlan":
        """Return the plan of a study in a folder."""
        return cls(recipe, protocol, KeptRecords(recipe, folder))

    def learn(self, searched: Variant, selection: Selection) -> None:
        """Take in what a search came to."""
        self._selections[searched.name] = selection

    def selection(self, variant: Variant) -> Selection | None:
        """Return what was chosen for a variant; None while a search has to tell."""
        searched, points = self.protocol.searched(variant), self.protocol.points(variant)
        if searched.name not in self._selections:
            found = (
                self.records.selection(searched.name, points)
                if points
                else self.protocol.only_selection(variant)
            )
            if found is None:
                return None
            self.learn(searched, found)
        return self._selections[searched.name]

    def can_try_again(self, searched: Variant, known: Selection) -> bool:
        """Tell whether points of a search failed and all others are here: only those are trained.

        Of a search that was made elsewhere everything would be trained anew.
        """
        place = self.records.folder / RUNS / searched.name
        done = [index for index in range(len(known.tried)) if index not in known.failed]
        names = [self.protocol.try_name(index, known.tried[index].point) for index in done]
        return bool(known.failed) and all(has_ended(place / name) for name in names)

    def runs(self, variant: Variant) -> list[PlannedRun]:
        """Return the runs of a variant that tables are made of; none while its point is unknown."""
        selection = self.selection(variant)
        if selection is None:
            return []
        return [self._with_start(run) for run in self.protocol.runs(variant, selection)]

    def kept(self) -> list[Record]:
        """Return the records that tables are made of, in the order of their rows."""
        rows = self.protocol.measured()
        return [record for row in rows for record in self.records.of_runs(self.runs(row))]

    def _with_start(self, run: PlannedRun) -> PlannedRun:
        """Return the run with the one it goes on from: that of the same seed, or the first."""
        if run.variant.init is None:
            return run
        before = self.runs(self.recipe.variant(run.variant.init))
        names = [one.name for one in before if one.point.get(SEED) == run.point.get(SEED)]
        return replace(run, init=next(iter(names or [one.name for one in before]), None))
