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
from gradsurge.experiments.runs.run_folder import FolderTaken, has_ended
from gradsurge.experiments.search import SearchTrial, TrialInterrupted
from gradsurge.experiments.search.shift import FAILURES
from gradsurge.experiments.search.storage import StorageError
from gradsurge.experiments.search.trial_runs import RUNS
from gradsurge.experiments.search.worker_contract import NOT_HERE
from gradsurge.experiments.study.digests import digest
from gradsurge.experiments.study.final_runs import FinalRuns
from gradsurge.experiments.study.planned_run import PlannedRun
from gradsurge.experiments.study.protocol import Protocol
from gradsurge.experiments.study.searches import Searches
from gradsurge.experiments.study.selection import Selection
from gradsurge.experiments.study.study_plan import StudyPlan
from gradsurge.experiments.study.study_site import StudySite, StudyStopped


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
    _looked_at: set[str] = field(default_factory=set)
    _asked_again: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.plan = StudyPlan.of(self.site.recipe, self.protocol, self.site.folder)
        self._searches = Searches(self.site, self._fail)

    def run(self) -> None:
        """Train and measure everything that is missing.

        Searches of all variants come first, then the first seed of all, then second ones: wherever
        it is cut off, the rows are equally far. What others are at work on is passed over.

        Raises:
            StudyStopped: a signal came; the same again goes on from there.
            StorageError: the storage is out of reach.
            NothingToTrainOn, NoCompilerError: nothing can be trained here.
        """
        variants = sorted(self.protocol.needed(), key=self._cost)
        most = max((variant.seeds for variant in variants), default=0)
        tasks = [(variant, seeds) for seeds in range(most + 1) for variant in variants]
        while tasks:
            done = next((task for task in tasks if self._is_done(*task)), None)
            if done is None:
                self._wait()
            else:
                tasks.remove(done)

    def _wait(self) -> None:
        try:
            self.site.watcher.waiting()
            time.sleep(self.site.behaviour.poll)
        except KeyboardInterrupt as error:  # nothing of ours is under way
            raise StudyStopped("waiting for others") from error

    def _cost(self, variant: Variant) -> float:
        tries = len(self.protocol.points(variant)) * self.site.recipe.search.share
        return (tries + variant.seeds) * variant.share

    def _is_done(self, variant: Variant, seeds: int) -> bool:
        """Search for a variant, train so many seeds; tell whether that is done with, or failed."""
        if variant.name in self.failures:
            return True
        try:
            selection = self._selection(variant)
            runs = self.plan.runs(variant)
            if selection is None or not runs:
                return False
            number = len(runs) if self.protocol.keeps_tries(variant) else seeds
            return self._have(variant, runs, selection, number)
        except (StorageError, *NOT_HERE):
            raise  # nothing can be done for the others either
        except ValueError as error:
            self._fail(variant.name, str(error))
            return True

    def _selection(self, variant: Variant) -> Selection | None:
        """Return what was chosen for a variant; None while others search for it."""
        searched = self.protocol.searched(variant)
        known = self.plan.selection(variant)
        if known is not None and not self._is_to_be_asked_again(searched, known):
            return known
        if searched.name in self.failures:
            raise ValueError(f"its point is that of {searched.name}, whose search failed")
        found = self._searches.choose(searched, self.protocol.points(variant))
        if found is not None:
            self._asked_again.add(searched.name)
            self.plan.learn(searched, found)
        return found

    def _is_to_be_asked_again(self, searched: Variant, known: Selection) -> bool:
        """Tell whether points failed when records were made, and the search is here to try them."""
        if not known.failed or searched.name in self._asked_again:
            return False
        if self.plan.can_try_again(searched, known):
            return True
        self._asked_again.add(searched.name)
        for index in known.failed:
            name = self.protocol.try_name(index, known.tried[index].point)
            self._fail(f"{searched.name} {name}", "it failed when its search was made elsewhere")
        return False

    def _has_starts(self, runs: Sequence[PlannedRun]) -> bool:
        """Tell whether the runs that these go on from are trained; False if that is to come."""
        for run in runs:
            init = run.variant.init
            if init is None or has_ended(self.site.folder / RUNS / init / str(run.init)):
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
        mended = [run for run in wanted if measured and self._is_to_be_mended(run)]
        if not mended and all(self._is_there(run, measured, start) for run in wanted):
            return True
        missing = [run for run in wanted if not self._is_there(run, measured, start)]
        if not self._has_starts(missing):
            return False
        searched = self.protocol.searched(variant).name
        finals = FinalRuns(site, runs, searched, selection, measured, start)
        # Another choice, or more seeds, are other points: a study of their own.
        chosen = digest({"runs": [dict(run.point) for run in runs]})
        name = site.study(f"{study_name(site.recipe, variant)}/runs-{chosen}")
        points = [dict(run.point) for run in wanted]
        work = self._searches.work(
            name, points, finals, finals.held, variant.name, finals.is_trained
        )
        trials = work[:number]
        left = sum(trial.state in ("waiting", "running") for trial in trials)
        for trial in trials:
            run = runs[trial.index]
            if trial.state == "failed":
                self._fail(run.title, trial.reason or "no reason was told")
            elif trial.state == "done" and (
                run in mended or not self._is_there(run, measured, start)
            ):
                left += not self._make_up(finals, trial)
        return left == 0

    def _make_up(self, finals: FinalRuns, trial: SearchTrial) -> bool:
        """Do again what the study has done and the folder has lost, or what is measured anew.

        Returns:
            False while others are at it.
        """
        run = finals.runs[trial.index]
        if finals.held(trial.index, run.point):
            return False
        if not finals.is_trained(trial.index):
            self.site.watcher.training(run.title)
        taken = False
        with self.site.pulse.listening() as stop:
            try:
                finals(trial.index, run.point)
            except TrialInterrupted as error:
                raise StudyStopped(run.title) from error
            except NOT_HERE:
                raise
            except FolderTaken:  # in the moment since it was looked at
                taken = True
            except FAILURES as error:
                self._fail(run.title, str(error))
        if stop.asked:
            raise StudyStopped(run.title)
        return not taken

    def _is_to_be_mended(self, run: PlannedRun) -> bool:
        """Tell, once for each run, whether some of its cases could not be measured before."""
        trained = has_ended(run.folder(self.site.folder))
        if run.title in self._looked_at or not trained:
            return False
        self._looked_at.add(run.title)
        record = self.plan.records.of(run)
        return record is not None and bool(record.measured.problems)

    def _is_wanted_start(self, variant: Variant) -> bool:
        """Tell whether a run goes on from the variant that is not there yet."""
        followers = [v for v in self.protocol.needed() if v.init == variant.name]
        return any(not self._is_made(follower) for follower in followers)

    def _is_made(self, variant: Variant) -> bool:
        """Tell whether all runs of a variant are there."""
        measured, start = variant in self.protocol.measured(), self._is_wanted_start(variant)
        runs = self.plan.runs(variant)
        return bool(runs) and all(self._is_there(run, measured, start) for run in runs)

    def _is_there(self, run: PlannedRun, measured: bool, start: bool) -> bool:
        if start and not has_ended(run.folder(self.site.folder)):
            return False
        return not measured or self.plan.records.of(run) is not None

    def _fail(self, name: str, reason: str) -> None:
        if name not in self.failures:
            self.failures[name] = " ".join(reason.split())
            self.site.watcher.failed(name, self.failures[name])
