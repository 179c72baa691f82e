"""All runs that tables need: what is missing is trained and measured, cheap things first.

It can be stopped at any moment and taken up again with the same command, here and elsewhere: every
run is resumable, every record is written as soon as its run is measured, and several processes or
machines that share the folder (and the storage) divide the runs among them. A run that fails is
told and passed over.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from gradsurge.experiments.recipes import Variant, study_name
from gradsurge.experiments.runs.run_folder import OUTCOME
from gradsurge.experiments.search import TrialInterrupted
from gradsurge.experiments.search.trial_runs import RUNS
from gradsurge.experiments.study.digests import digest
from gradsurge.experiments.study.final_runs import FinalRuns
from gradsurge.experiments.study.planned_run import PlannedRun
from gradsurge.experiments.study.protocol import Protocol
from gradsurge.experiments.study.searches import Searches
from gradsurge.experiments.study.selection import Selection
from gradsurge.experiments.study.study_plan import StudyPlan
from gradsurge.experiments.study.study_site import StudySite
from gradsurge.experiments.study.watcher import StudyStopped
from gradsurge.training import TrainingError


@dataclass
class Matrix:
    """Makes the runs and records that a protocol asks for.

    Attributes:
        site: where.
        protocol: what.
        failures: name of a run or variant -> why it failed.
        plan: what is known of the runs.
    """

    site: StudySite
    protocol: Protocol
    failures: dict[str, str] = field(default_factory=dict)
    plan: StudyPlan = field(init=False)
    _searches: Searches = field(init=False)

    def __post_init__(self) -> None:
        self.plan = StudyPlan.of(self.site.recipe, self.protocol, self.site.folder)
        self._searches = Searches(self.site, self._fail)

    def run(self) -> None:
        """Train and measure everything that is missing.

        First seeds of all variants come before second ones, so that every row has a number soon.

        Raises:
            StudyStopped: a signal came; the same again goes on from there.
            ValueError: the storage is out of reach.
        """
        variants = sorted(self.protocol.needed(), key=self._cost)
        for seeds in range(1, max((variant.seeds for variant in variants), default=0) + 1):
            waiting = variants
            while waiting:
                left = [variant for variant in waiting if not self._is_done(variant, seeds)]
                if len(left) == len(waiting):
                    self.site.watcher.waiting()
                    time.sleep(self.site.behaviour.poll)
                waiting = left

    def _cost(self, variant: Variant) -> float:
        tries = len(self.protocol.points(variant)) * self.site.recipe.search.share
        return (tries + variant.seeds) * variant.share

    def _is_done(self, variant: Variant, seeds: int) -> bool:
        """Work on a variant; tell whether it is done with, for better or worse."""
        if variant.name in self.failures:
            return True
        try:
            selection = self._selection(variant)
            runs = self.plan.runs(variant)
            if selection is None or not runs:
                return False
            number = seeds if self.site.recipe.search.kind == "grid" else len(runs)
            return self._have(variant, runs, selection, number)
        except (ValueError, TrainingError) as error:
            self._fail(variant.name, str(error))
            return True

    def _selection(self, variant: Variant) -> Selection | None:
        """Return what was chosen for a variant; None while others search for it."""
        searched = self.protocol.searched(variant)
        if (known := self.plan.selection(variant)) is not None:
            return known
        if searched.name in self.failures:
            raise ValueError(f"its point is that of {searched.name}, whose search failed")
        found = self._searches.choose(searched, self.protocol.points(variant))
        if found is not None:
            self.plan.learn(searched, found)
        return found

    def _has_starts(self, runs: Sequence[PlannedRun]) -> bool:
        """Tell whether the runs that these go on from are trained; False if that is to come."""
        for run in runs:
            init = run.variant.init
            if init is None or (self.site.folder / RUNS / init / str(run.init) / OUTCOME).is_file():
                continue
            if {init, f"{init} {run.init}"} & self.failures.keys():
                raise ValueError(f"it goes on from {init}, which failed")
            return False
        return True

    def _have(
        self, variant: Variant, runs: Sequence[PlannedRun], selection: Selection, number: int
    ) -> bool:
        """Train and measure the first so many runs; False while others are at work on them."""
        site, measured = self.site, variant in self.protocol.measured()
        start, wanted = self._is_wanted_start(variant), runs[:number]
        if all(self._is_there(run, measured, start) for run in wanted):
            return True
        if not self._has_starts(wanted):
            return False
        finals = FinalRuns(site, runs, self.protocol.searched(variant).name, selection, measured)
        # Another choice, or more seeds, are other points: a study of their own.
        chosen = digest({"runs": [dict(run.point) for run in runs]})
        name = site.study(f"{study_name(site.recipe, variant)}/runs-{chosen}")
        points = [dict(run.point) for run in wanted]
        trials = self._searches.work(name, points, finals, finals.held, variant.name)[:number]
        for trial in trials:
            if trial.state == "failed":
                self._fail(runs[trial.index].title, trial.reason or "no reason was told")
            elif trial.state == "done" and not self._is_there(runs[trial.index], measured, start):
                self._make_up(finals, trial.index)
        return not any(trial.state in ("waiting", "running") for trial in trials)

    def _make_up(self, finals: FinalRuns, index: int) -> None:
        """Do again what the study has done and the folder has lost, or what is measured anew."""
        run = finals.runs[index]
        self.site.watcher.training(run.title)
        try:
            finals(index, run.point)
        except TrialInterrupted as error:
            raise StudyStopped(run.title) from error
        except (ValueError, TrainingError) as error:
            self._fail(run.title, str(error))

    def _is_wanted_start(self, variant: Variant) -> bool:
        """Tell whether a run goes on from the variant that is not there yet."""
        followers = [v for v in self.protocol.measured() if v.init == variant.name]
        return any(
            not runs or not all(self._is_there(run, measured=True, start=False) for run in runs)
            for runs in map(self.plan.runs, followers)
        )

    def _is_there(self, run: PlannedRun, measured: bool, start: bool) -> bool:
        if start and not (run.folder(self.site.folder) / OUTCOME).is_file():
            return False
        return not measured or self.plan.records.of(run) is not None

    def _fail(self, name: str, reason: str) -> None:
        if name not in self.failures:
            self.failures[name] = " ".join(reason.split())
            self.site.watcher.failed(name, self.failures[name])
