"""Those who are told how far a study is."""

from collections.abc import Sequence

from gradsurge.training import Observer


class StudyStopped(Exception):
    """A signal stopped the study; what it was doing is in the message, and everything is saved."""


class StudyWatcher:
    """Is told what happens; derive from it and write the methods that matter."""

    def stage(self, title: str, total: int) -> None:
        """Something begins that has so many parts."""

    def done(self, parts: int) -> None:
        """So many parts of it are done."""

    def training(self, name: str) -> None:
        """A run begins or goes on."""

    def observers(self) -> Sequence[Observer]:
        """Return who watches the next training."""
        return ()

    def measuring(self, name: str, cases: int) -> None:
        """A run is trained and will be measured on so many cases."""

    def measured_case(self) -> None:
        """One of its cases is done."""

    def finished(self) -> None:
        """The run is done with: tried, or measured and kept."""

    def failed(self, name: str, reason: str) -> None:
        """A run has failed and is passed over."""

    def waiting(self) -> None:
        """Everything that is left is worked on by others."""
