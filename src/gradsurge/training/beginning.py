"""Where a training sets in: at its last checkpoint, or at nothing."""

from pathlib import Path
from typing import TYPE_CHECKING

from gradsurge.training.checkpoint import Checkpoint, read_checkpoint
from gradsurge.training.durable_file import remove_left_behind
from gradsurge.training.job import BEST, LAST, NONFINITE, TrainJob
from gradsurge.training.state import TrainState

if TYPE_CHECKING:
    from lightning_fabric import Fabric


def begin(job: TrainJob, fabric: "Fabric", resume: bool) -> TrainState:
    """Return the state to go on from.

    Raises:
        ValueError: the last checkpoint is damaged, or of another training.
    """
    kept = _last_state(job.folder) if resume else None
    fabric.barrier()  # all have looked before any checkpoint is removed or written
    state = TrainState(job, fabric)
    if fabric.is_global_zero:
        for name in (LAST, BEST, NONFINITE):
            remove_left_behind(job.folder / name)
    if kept is not None:
        state.restore(kept)
    elif fabric.is_global_zero:
        job.folder.mkdir(parents=True, exist_ok=True)
        for name in (LAST, BEST, NONFINITE):
            (job.folder / name).unlink(missing_ok=True)
    return state


def _last_state(folder: Path) -> Checkpoint | None:
    last, best = folder / LAST, folder / BEST
    if not last.exists():
        if best.exists():
            raise ValueError(f"{last}: missing; {_advice(best)}")
        return None
    try:
        return read_checkpoint(last)
    except ValueError as error:
        advice = _advice(best) if best.exists() else "there is no best.pt; start the run again"
        raise ValueError(f"{error}; {advice}") from error


def _advice(best: Path) -> str:
    try:
        step = read_checkpoint(best).step
    except ValueError:
        return f"{best} is damaged, too; start the run again"
    return f"{best} holds step {step}: copy it over last.pt to go on from there"
