"""How far several trainings have come, read from what they write."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from gradsurge.experiments.demo.watcher import Watcher
from gradsurge.training.observers import read_metrics

_LOOK = 1.0  # seconds between two looks


@contextmanager
def watched(folders: Sequence[Path], steps: int, watcher: Watcher) -> Iterator[None]:
    """Tell a watcher of trainings while inside, wherever they run.

    Args:
        folders: of the runs.
        steps: of each.
        watcher: told of all steps together.
    """
    watcher.stage("training", steps * len(folders))
    over = threading.Event()
    thread = threading.Thread(target=_look, args=(folders, watcher, over), daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
    watcher.done(*steps_done(folders))


def steps_done(folders: Sequence[Path]) -> tuple[int, str]:
    """Return the steps of all trainings together, and the last validation Dice of each."""
    total, dice = 0, []
    for folder in folders:
        try:
            lines = read_metrics(folder / "metrics.jsonl")
        except OSError:  # it has not begun
            lines = []
        total += max((line["step"] for line in lines), default=0)
        scores = [line["dice"] for line in lines if line.get("dice") is not None]
        dice.append(f"{scores[-1]:.2f}" if scores else "–")
    return total, "" if set(dice) == {"–"} else f"Dice {' '.join(dice)}"


def _look(folders: Sequence[Path], watcher: Watcher, over: threading.Event) -> None:
    while not over.wait(_LOOK):
        watcher.done(*steps_done(folders))
