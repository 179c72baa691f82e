"""The best trials of a search, as the paper chooses them."""

from collections.abc import Iterable

from gradsurge.experiments.search.search_trial import SearchTrial


def select(trials: Iterable[SearchTrial], keep: int) -> list[SearchTrial]:
    """Return the best trials by validation Dice, the best first; of equal ones, the earlier.

    Args:
        trials: those that are not done are left out.
        keep: how many at most.

    >>> found = [SearchTrial(i, {}, "done", dice=dice) for i, dice in enumerate((0.7, 0.8, 0.8))]
    >>> [trial.index for trial in select(found, 2)]
    [1, 2]

    Raises:
        ValueError: ``keep`` is no number of trials.
    """
    if keep < 1:
        raise ValueError(f"keep: expected a whole number above 0, got {keep!r}")
    done = [(trial.dice, trial) for trial in trials if trial.dice is not None]
    done = [(dice, trial) for dice, trial in done if trial.state == "done"]
    done.sort(key=lambda pair: (-pair[0], pair[1].index))
    return [trial for _, trial in done[:keep]]
