"""The searches of a study: points tried by whoever works on it, until the best are known."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from gradsurge.experiments.recipes import Variant, study_name
from gradsurge.experiments.search import (
    SearchTrial,
    TrialRuns,
    WorkerWatcher,
    open_study,
    read_trials,
    retry_failed,
    run_worker,
)
from gradsurge.experiments.search.take_up import Held
from gradsurge.experiments.search.worker_contract import Train
from gradsurge.experiments.study.selection import Selection, Tried
from gradsurge.experiments.study.study_site import StudySite, StudyStopped, StudyWatcher


@dataclass
class Searches:
    """Works on studies that others may share.

    Attributes:
        site: of the study.
        on_failed: told the name of a point that failed, and why.
    """

    site: StudySite
    on_failed: Callable[[str, str], object]
    _tried_again: set[str] = field(default_factory=set)

    def choose(self, variant: Variant, points: Sequence[dict[str, Any]]) -> Selection | None:
        """Try what waits; return the selection, or None while others are at work on it.

        Args:
            variant: whose points they are.
            points: more than one.

        Raises:
            ValueError: every point failed.
            StudyStopped: a signal came.
        """
        site = self.site
        runs = TrialRuns(
            recipe=site.recipe,
            variant=variant,
            store=site.store,
            folder=site.folder,
            share=site.recipe.search.share,
            pulse=site.pulse,
            device=site.device,
            workers=site.workers,
            observers=site.watcher.observers,
        )
        name = site.study(study_name(site.recipe, variant))
        trials = self.work(name, points, runs, runs.held, f"{variant.name}, trying")
        for trial in trials:
            if trial.state == "failed":
                folder = runs.run_folder(trial.index, trial.point)
                self.on_failed(f"{variant.name} {folder.name}", trial.reason or "")
        if any(trial.state in ("waiting", "running") for trial in trials):
            return None
        tried = [
            Tried(point, trial.dice, trial.scores.get("nll"))
            for point, trial in zip(points, trials, strict=False)
        ]
        found = Selection.among(tried, site.recipe.search)
        if found is None:
            reasons = {trial.reason for trial in trials if trial.reason}
            raise ValueError(f"every point that was tried failed: {'; '.join(sorted(reasons))}")
        return found

    def work(
        self,
        name: str,
        points: Sequence[dict[str, Any]],
        train: Train,
        held: Held,
        title: str,
        is_trained: Callable[[int], bool] = lambda _: False,
    ) -> list[SearchTrial]:
        """Train what waits in a study, and return how its trials stand.

        Args:
            name: of the study in the storage.
            points: all of them.
            train: trains one.
            held: tells whether somebody works in its folder.
            title: what a user sees of it.
            is_trained: tells whether there is nothing to train, so nothing to tell.

        Raises:
            StudyStopped: a signal came.
        """
        site = self.site
        study = open_study(site.storage, name, points)
        if name not in self._tried_again:
            self._tried_again.add(name)
            retry_failed(study)  # whoever asks again has mended something
        end = run_worker(
            study,
            train,
            folder=site.folder,
            held=held,
            pulse=site.pulse,
            settings=site.behaviour,
            watcher=_Told(site.watcher, title, is_trained),
        )
        if end.reason == "interrupted":
            raise StudyStopped(title)
        return read_trials(study)


class _Told(WorkerWatcher):
    """Passes on what a worker tells."""

    def __init__(
        self, watcher: StudyWatcher, title: str, is_trained: Callable[[int], bool]
    ) -> None:
        self._watcher, self._title, self._is_trained = watcher, title, is_trained

    def claimed(self, trial: SearchTrial) -> None:
        if self._is_trained(trial.index):
            return
        parts = (f"{name.rpartition('.')[2]} {_short(v)}" for name, v in trial.point.items())
        self._watcher.training(f"{self._title} {', '.join(parts)}".rstrip())

    def finished(self, trial: SearchTrial) -> None:
        self._watcher.finished()


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
