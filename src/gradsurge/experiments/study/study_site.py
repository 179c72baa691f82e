"""Where and with what a study is done."""

from dataclasses import dataclass, field
from pathlib import Path

from gradsurge.data.store import Store
from gradsurge.experiments.recipes import Recipe
from gradsurge.experiments.search import Pulse, WorkerSettings, shared_name
from gradsurge.experiments.study.watcher import StudyWatcher


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
