"""Lines that tell what a worker of a search does; the bar of a training comes between them."""

from collections.abc import Callable, Sequence

import typer

from gradsurge.cli.search_words import counts_in_words, end_in_words, point_in_words
from gradsurge.experiments.search import SearchTrial, StudyStatus, WorkerWatcher


class SearchLines(WorkerWatcher):
    """Writes to stderr.

    Args:
        study: its name.
        trials: reads the trials as they are now.
    """

    def __init__(self, study: str, trials: Callable[[], Sequence[SearchTrial]]) -> None:
        self._study, self._trials = study, trials

    def claimed(self, trial: SearchTrial) -> None:
        """Tell the point, and how the study stands."""
        again = " again" if trial.attempts else ""
        typer.echo(
            f"{self._study}: {counts_in_words(self._status().counts)}; now trial "
            f"{trial.index}{again}: {point_in_words(trial.point)}",
            err=True,
        )

    def finished(self, trial: SearchTrial) -> None:
        """Tell the Dice, and the best."""
        best = self._status().best
        beside = "" if best is None else f"; best: trial {best.index}, Dice {best.dice:.4f}"
        typer.echo(f"{end_in_words(trial)}{beside}", err=True)

    def failed(self, trial: SearchTrial) -> None:
        """Tell why."""
        typer.echo(end_in_words(trial), err=True)

    def idle(self, trials: Sequence[SearchTrial]) -> None:
        """Tell whom it waits for."""
        at_work = ", ".join(f"trial {t.index} ({t.worker})" for t in trials if t.worker)
        typer.echo(
            f"no trial waits; staying in case a worker dies: {at_work or 'others are at work'} "
            f"(--leave ends at once)",
            err=True,
        )

    def _status(self) -> StudyStatus:
        return StudyStatus(self._study, tuple(self._trials()))
