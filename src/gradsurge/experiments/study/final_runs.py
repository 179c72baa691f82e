"""The runs that tables are made of: trained or resumed, measured, and kept as records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gradsurge.experiments.runs import RunResult, open_run, plan_run, train_run
from gradsurge.experiments.runs.corrections import NONE
from gradsurge.experiments.runs.run_folder import CONFIG, has_ended, only_trainer
from gradsurge.experiments.runs.trained_run import TrainedRun
from gradsurge.experiments.search import TrialInterrupted, TrialOutcome
from gradsurge.experiments.search.presence import is_held
from gradsurge.experiments.search.trial_runs import check_there, outcome_of
from gradsurge.experiments.study.digests import trained_digest
from gradsurge.experiments.study.kept_records import KeptRecords
from gradsurge.experiments.study.logit_shift import logit_shift
from gradsurge.experiments.study.measuring import measure_run
from gradsurge.experiments.study.planned_run import PlannedRun
from gradsurge.experiments.study.provenance import provenance
from gradsurge.experiments.study.record import Record, write_record
from gradsurge.experiments.study.run_pace import seconds_of, validations_of
from gradsurge.experiments.study.selection import Selection
from gradsurge.experiments.study.study_site import StudySite
from gradsurge.losses.strength import strength_in
from gradsurge.training.observers import MetricsFile


@dataclass(frozen=True)
class FinalRuns:
    """Trains and measures planned runs; called with an index, as `run_worker` does.

    Attributes:
        site: of the study.
        runs: of one variant.
        searched: name of the variant that was searched.
        selection: what its search came to.
        measured: whether records are wanted; not of runs that others only start from.
        start: whether other runs go on from their weights.
    """

    site: StudySite
    runs: Sequence[PlannedRun]
    searched: str
    selection: Selection
    measured: bool = True
    start: bool = False
    _just_measured: set[str] = field(default_factory=set)

    def __call__(self, index: int, _point: Mapping[str, Any]) -> TrialOutcome:
        """Train a run to its end, measure it, and write its record, unless the record is there.

        Raises:
            TrialInterrupted: a signal came; everything is saved.
            NothingToTrainOn, NoCompilerError: nothing can be trained here.
            ValueError: recipe, store and folder do not go together.
        """
        run = self.runs[index]
        folder = run.folder(self.site.folder)
        name = str(folder.relative_to(self.site.folder))
        if (record := self._kept(run)) is not None:
            return TrialOutcome(record.validation["dice"], name, record.training["best_step"])
        check_there(self.site.store)
        result = self._train(run)
        if result.outcome is None:
            raise TrialInterrupted(f"stopped after step {result.step}")
        if self.measured and run.title not in self._just_measured:
            self._measure(run)
        return outcome_of(result.outcome, name)

    def is_trained(self, index: int) -> bool:
        """Tell whether nothing is left to train: a run has ended, or its record is all we need."""
        run = self.runs[index]
        return has_ended(run.folder(self.site.folder)) or self._kept(run) is not None

    def held(self, index: int, _point: Mapping[str, Any]) -> bool:
        """Tell whether somebody trains or measures a run."""
        return is_held(self.runs[index].folder(self.site.folder))

    def _kept(self, run: PlannedRun) -> Record | None:
        """Return the record of a run that was trained elsewhere, or whose folder is gone."""
        trained_here = (run.folder(self.site.folder) / CONFIG).is_file()
        if self.start or not self.measured or trained_here:
            return None
        record = KeptRecords(self.site.recipe, self.site.folder).of(run)
        if record is None or record.validation.get("dice") is None:
            return None
        return record if "best_step" in record.training else None

    def _train(self, run: PlannedRun) -> RunResult:
        site = self.site
        return train_run(
            plan_run(site.store, run.request(site.recipe, site.folder)),
            run.folder(site.folder),
            resume=True,
            device=site.device,
            workers=site.workers,
            observers=[MetricsFile(), site.pulse, *site.watcher.observers()],
        )

    def _measure(self, run: PlannedRun) -> None:
        """Make the record of a run, unless there is one of all its cases."""
        with only_trainer(run.folder(self.site.folder)):  # so others pass it over
            kept = KeptRecords(self.site.recipe, self.site.folder).of(run)
            if kept is None or kept.measured.problems:
                self._keep(run)
        self._just_measured.add(run.title)

    def _keep(self, run: PlannedRun) -> None:
        site, trained = self.site, open_run(run.folder(self.site.folder))
        settings = run.settings(site.recipe)
        site.watcher.measuring(run.title, len(site.store.split("test")) * settings.inferences)
        measured = measure_run(
            trained, site.store, settings=settings, device=site.device, on_case=self._go_on
        )
        record = Record(
            recipe=site.recipe.name,
            scale=site.recipe.scale,
            variant=run.variant.name,
            run=run.name,
            point=run.point,
            wanted=run.wanted(site.recipe),
            trained=trained_digest(trained.config, trained.outcome.step),
            selection={
                "kind": site.recipe.search.kind,
                "of": self.searched,
                "tried": self.selection.to_json(),
            },
            validation=_validation(trained),
            training=_training(trained),
            measured=measured,
            provenance=provenance(),
        )
        write_record(site.folder, record)

    def _go_on(self, _case: str) -> None:
        """Count an inference; a signal that came meanwhile ends the measuring."""
        self.site.watcher.measured_case()
        if self.site.pulse.stopping():
            raise TrialInterrupted("stopped while it was measured")


def _validation(run: TrainedRun) -> dict[str, Any]:
    outcome, corrections = run.outcome, run.corrections
    temperature = corrections["temperature"].parameters["temperature"]
    return {
        "dice": outcome.scores[NONE].dice,
        "own_dice": outcome.mask_dice,
        "nll": {name: scores.nll for name, scores in outcome.scores.items()},
        "thresholds": outcome.mask_thresholds,
        "theory_thresholds": outcome.theory_thresholds,
        "shifts": {n: logit_shift(c) for n, c in corrections.items() if n != "temperature"},
        "temperature": temperature,
    }


def _training(run: TrainedRun) -> dict[str, Any]:
    return {
        "strength": strength_in(run.config.loss_options),
        "steps": run.outcome.steps,
        "best_step": run.outcome.step,
        "seconds": seconds_of(run.folder),
        "curve": validations_of(run.folder),
    }
