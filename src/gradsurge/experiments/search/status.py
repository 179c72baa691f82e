"""How studies stand."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from gradsurge.data.case_error import shown
from gradsurge.experiments.search.address import is_database
from gradsurge.experiments.search.folder_mark import is_marked
from gradsurge.experiments.search.search_trial import SearchTrial, select, watch_trials
from gradsurge.experiments.search.shared_study import study_of
from gradsurge.experiments.search.storage import open_storage

if TYPE_CHECKING:
    from optuna.storages import BaseStorage

STATES = ("done", "running", "waiting", "failed")


@dataclass(frozen=True)
class StudyStatus:
    """How one study stands.

    Attributes:
        name: of the study.
        trials: by index.
    """

    name: str
    trials: tuple[SearchTrial, ...]

    @property
    def counts(self) -> dict[str, int]:
        """Number of trials in each of `STATES`."""
        found = Counter(trial.state for trial in self.trials)
        return {state: found[state] for state in STATES}  # type: ignore[index]

    @property
    def best(self) -> SearchTrial | None:
        """The best so far."""
        return next(iter(select(self.trials, 1)), None)

    @property
    def minutes_left(self) -> float | None:
        """Until all is done by those at work, by the median trial; None before the first.

        >>> done = [SearchTrial(i, {}, "done", minutes=m, dice=0.5) for i, m in enumerate((8, 12))]
        >>> rest = [SearchTrial(2, {}, "running", minutes=4), SearchTrial(3, {}, "waiting")]
        >>> StudyStatus("s", (*done, *rest)).minutes_left
        16.0
        """
        took = [trial.minutes for trial in self.trials if trial.state == "done"]
        if not took:
            return None
        usual, counts = float(median(took)), self.counts
        rest = [
            max(0.0, usual - t.minutes) for t in self.trials if t.state in ("running", "waiting")
        ]
        return sum(rest) / max(1, counts["running"])

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        best = self.best
        return {
            "study": self.name,
            **self.counts,
            "best": None if best is None else best.index,
            "minutes_left": self.minutes_left,
            "trials": [trial.to_json() for trial in self.trials],
        }


def study_status(
    storage: str, belonging_to: str = "", folder: Path | None = None
) -> list[StudyStatus]:
    """Return how the studies of a storage stand, by name.

    Args:
        storage: path of a journal file, or postgresql://user@host/database.
        belonging_to: end of the names of the studies to look at; all if left out.
        folder: of the search, as workers got it: a trial whose worker died on this machine waits
            then; without it, it runs until another worker comes.

    Raises:
        ValueError: it is no storage, is out of reach, or holds no study.
    """
    if not is_database(storage) and not Path(storage).is_file():
        raise ValueError(
            f"{shown(Path(storage))}: no such journal; begin a search with gradsurge search"
        )
    opened = open_storage(storage)
    names = sorted(study.study_name for study in opened.get_all_studies())
    return [
        # Where workers of another folder's study have their locks is not known.
        _status(opened, name, folder if belonging_to or not is_marked(name) else None)
        for name in names
        if name.endswith(belonging_to)
    ]


def _status(storage: "BaseStorage", name: str, folder: Path | None) -> StudyStatus:
    return StudyStatus(name, tuple(watch_trials(study_of(storage, name), folder)))
