"""Who is told what a worker does."""

from collections.abc import Sequence

from gradsurge.experiments.search.search_trial import SearchTrial


class WorkerWatcher:
    """Is told what happens; derive from it and write the methods that matter."""

    def claimed(self, trial: SearchTrial) -> None:
        """The worker begins a trial, or goes on with it."""

    def finished(self, trial: SearchTrial) -> None:
        """It has trained a trial to its end."""

    def failed(self, trial: SearchTrial) -> None:
        """A trial ended without a result; its state tells whether it is tried again."""

    def idle(self, trials: Sequence[SearchTrial]) -> None:
        """Nothing waits, but others are at work; told when that begins."""
