"""What a study still has to do: runs, their number, and about how long they take."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from gradsurge.experiments.recipes import Recipe, Variant
from gradsurge.experiments.runs.presets import PRESETS
from gradsurge.experiments.runs.run_folder import has_ended
from gradsurge.experiments.search.trial_runs import RUNS
from gradsurge.experiments.study.planned_run import PlannedRun
from gradsurge.experiments.study.protocol import Protocol
from gradsurge.experiments.study.run_pace import Pace, pace_of
from gradsurge.experiments.study.step_guess import guessed_pace
from gradsurge.experiments.study.study_plan import StudyPlan


@dataclass(frozen=True)
class VariantOverview:
    """One variant of a study.

    Attributes:
        variant: of the recipe.
        tries: points that its search tries; 0 where it has none of its own.
        tries_done: of them.
        try_steps: of one such training.
        runs: that tables are made of, or that others start from.
        runs_done: of them: measured, or trained where nothing is measured.
        unmeasured: trained and yet to be measured.
        steps: of one such training; 0 where they are those of the search.
        to_train: names of the trainings that are still to be done, in their order; "best_seed0" of
            a point that is not known yet.
    """

    variant: Variant
    tries: int
    tries_done: int
    try_steps: int
    runs: int
    runs_done: int
    unmeasured: int
    steps: int
    to_train: tuple[str, ...]

    @property
    def missing(self) -> int:
        """How many trainings are still to be done."""
        return len(self.to_train)

    @property
    def missing_steps(self) -> int:
        """Steps of them."""
        tries = self.tries - self.tries_done
        return tries * self.try_steps + (self.missing - tries) * self.steps


@dataclass(frozen=True)
class Overview:
    """All variants that the tables need, and the pace they are trained at.

    Attributes:
        variants: with what is there of them.
        recipe: of the study.
        told: the pace of what was trained already, if anything was.
    """

    variants: Sequence[VariantOverview]
    recipe: Recipe
    told: Pace | None

    @cached_property
    def pace(self) -> Pace:
        """How long a step takes; a guess, which takes seconds to make, where nothing tells."""
        return self.told or guessed_pace(self.recipe)

    @property
    def missing(self) -> int:
        """Trainings that are still to be done."""
        return sum(one.missing for one in self.variants)

    @property
    def unmeasured(self) -> int:
        """Runs that are trained and yet to be measured."""
        return sum(one.unmeasured for one in self.variants)

    @property
    def complete(self) -> bool:
        """Whether nothing is left to train or to measure."""
        return all(v.tries_done == v.tries and v.runs_done == v.runs for v in self.variants)

    @property
    def minutes(self) -> float:
        """Estimate for one process; validating and measuring are not in it."""
        return sum(one.missing_steps for one in self.variants) * self.pace.seconds / 60


def overview_of(recipe: Recipe, protocol: Protocol, folder: Path) -> Overview:
    """Return what is there and what is missing, without touching anything.

    Args:
        recipe: the whole recipe.
        protocol: the tables that are asked for.
        folder: of the study.
    """
    plan = StudyPlan.of(recipe, protocol, folder)
    look = _Look(plan, folder)
    measured = {variant.name for variant in protocol.measured()}
    variants = list(protocol.needed())
    searched = {v.name: v for v in map(protocol.searched, variants)}
    every = {**searched, **{variant.name: variant for variant in variants}}
    found = [
        look.of(variant, in_tables=variant.name in measured, only_search=variant not in variants)
        for variant in every.values()
    ]
    return Overview(found, recipe, pace_of(folder, plan.records.all()))


@dataclass(frozen=True)
class _Look:
    plan: StudyPlan
    folder: Path

    def of(self, variant: Variant, *, in_tables: bool, only_search: bool) -> VariantOverview:
        plan, points = self.plan, self.plan.protocol.points(variant)
        own = points if variant.point_of is None else []
        known = plan.selection(variant)
        names = [plan.protocol.try_name(index, point) for index, point in enumerate(own)]
        again = known and own and plan.can_try_again(variant, known)
        failed = {names[index] for index in known.failed} if known and again else set()
        tried = [
            name
            for name in names
            if (known and name not in failed) or self._is_trained(variant, name)
        ]
        number = 0 if only_search else self._number(variant)
        runs = plan.runs(variant)[:number]
        open_ones = [run for run in runs if not self._is_done(run, in_tables)]
        untrained = [run.name for run in open_ones if not self._is_trained(variant, run.name)]
        unmeasured = len(open_ones) - len(untrained)
        steps, keeps = self._steps(variant), plan.protocol.keeps_tries(variant)
        if not runs:  # which of the points is the best is not known yet
            untrained = [f"best_seed{seed}" for seed in range(number)]
        return VariantOverview(
            variant=variant,
            tries=len(own),
            tries_done=len(tried),
            try_steps=max(1, round(steps * plan.recipe.search.share)),
            runs=number,
            runs_done=len(runs) - len(open_ones),
            unmeasured=unmeasured,
            steps=0 if keeps else steps,
            # Where the runs of tables are those of the search, nothing more is trained for them.
            to_train=(*(n for n in names if n not in tried), *([] if keeps else untrained)),
        )

    def _is_done(self, run: PlannedRun, in_tables: bool) -> bool:
        trained = self._is_trained(run.variant, run.name)
        if not in_tables:
            return trained or not self._is_awaited(run.variant)
        record = self.plan.records.of(run)
        # What could not be measured is tried again, if the run is still there.
        return record is not None and not (record.measured.problems and trained)

    def _is_awaited(self, start: Variant) -> bool:
        """Tell whether a run that goes on from a start is still to come."""
        needed, measured = self.plan.protocol.needed(), self.plan.protocol.measured()
        for follower in (variant for variant in needed if variant.init == start.name):
            runs = self.plan.runs(follower)
            if not runs or not all(self._is_done(run, follower in measured) for run in runs):
                return True
        return False

    def _number(self, variant: Variant) -> int:
        keeps = self.plan.protocol.keeps_tries(variant)
        return self.plan.recipe.search.keep if keeps else variant.seeds

    def _is_trained(self, variant: Variant, run: str) -> bool:
        return has_ended(self.folder / RUNS / variant.name / run)

    def _steps(self, variant: Variant) -> int:
        of_preset = PRESETS[self.plan.recipe.run.get("preset", "quick")].training
        training = {**of_preset, **self.plan.recipe.run.get("training", {}), **variant.training}
        return max(1, round(int(training["steps"]) * variant.share))
