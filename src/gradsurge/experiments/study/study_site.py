"""Where and with what a study is done, and who is told how far it is."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gradsurge.data.store import Store
from gradsurge.experiments.recipes import Recipe
from gradsurge.experiments.search import Pulse, WorkerSettings, shared_name
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

    def measuring(self, name: str, looks: int) -> None:
        """A run is trained and will be measured; a case and each shift of it are a look."""

    def measured_case(self) -> None:
        """One of these looks is done."""

    def finished(self) -> None:
        """The run is done with: tried, or measured and kept."""

    def failed(self, name: str, reason: str) -> None:
        """A run has failed and is passed over."""

    def waiting(self) -> None:
        """Everything that is left is worked on by others."""


@dataclass(frozen=True)
class StudySite:
    """A study on this machine, perhaps with others at work on it.

    Attributes:
        recipe: the whole one, whatever tables are asked for.
        folder: of the study: runs/, records/ and tables/ are in it.
        store: the prepared cases.
        storage: where searches are kept: a journal in the folder, or a database.
        device: of networks.
        workers: processes that make patches.
        watcher: told what happens.
        behaviour: of a worker among others.
        pulse: tells others how far a training is.
    """

    recipe: Recipe
    folder: Path
    store: Store
    storage: str
    device: str = "auto"
    workers: int = 0
    watcher: StudyWatcher = field(default_factory=StudyWatcher)
    behaviour: WorkerSettings = field(default_factory=lambda: WorkerSettings(stay=False))
    pulse: Pulse = field(default_factory=Pulse)

    def study(self, name: str) -> str:
        """Return the name of a study in the storage."""
        return shared_name(name, self.folder, self.storage)
