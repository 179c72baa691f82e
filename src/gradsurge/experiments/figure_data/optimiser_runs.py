"""Trainings to compare by optimiser: runs that are named, or those of a study."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from gradsurge.data.case_error import shown
from gradsurge.experiments.runs.history import RunHistory, read_histories
from gradsurge.experiments.runs.run_folder import CONFIG, read_config
from gradsurge.experiments.search.trial_runs import RUNS
from gradsurge.experiments.study.record import read_records
from gradsurge.experiments.study.study_folder import STUDY


def runs_to_compare(folders: Iterable[Path]) -> list[RunHistory]:
    """Return the histories of runs; the folder of a study stands for some of its runs.

    Of a study those are the first seeds of a loss that was trained with several optimisers, and of
    its surgery: of several such runs the best of the longest. Where there are several such losses
    they are those with the shortest name, Dice in the paper's figure: more lines cannot be told
    apart.

    Args:
        folders: of ``gradsurge train`` or ``gradsurge reproduce``.

    Raises:
        ValueError: there is no run, or a study has none with another optimiser.
    """
    found: list[Path] = []
    for folder in folders:
        found += _of_study(folder) if (folder / STUDY).is_file() else [folder]
    return read_histories(found)


def _of_study(folder: Path) -> list[Path]:
    # The longest training of a loss with an optimiser, the best of them by validation Dice.
    records = sorted(
        read_records(folder)[0],
        key=lambda one: (-one.training.get("steps", 0), -(one.validation.get("dice") or 0.0)),
    )
    first: dict[tuple[str, str], Path] = {}
    for record in records:
        run = folder / RUNS / record.variant / record.run
        if record.seed == 0 and (run / CONFIG).is_file():
            config = read_config(run)
            first.setdefault((config.loss, config.training.optimiser), run)
    optimisers = Counter(loss for loss, _ in first)
    several = {loss.removesuffix("-surgery") for loss, number in optimisers.items() if number > 1}
    base = min(several, key=lambda name: (len(name), name), default=None)
    kept = [
        run
        for (loss, _), run in first.items()
        if optimisers[loss] > 1 and loss.removesuffix("-surgery") == base
    ]
    if not kept:
        raise ValueError(
            f"{shown(folder)}: expected runs of one loss with two optimisers in {RUNS}/, got "
            f"{len(first)} runs; gradsurge reproduce phantoms --table optimiser trains some"
        )
    return kept
