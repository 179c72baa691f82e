"""A whole run: store, patches, model, loss, loop, validation, and the ending."""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from gradsurge.experiments.runs.config import RunConfig
from gradsurge.experiments.runs.early_look import EarlyLook
from gradsurge.experiments.runs.outcome import Outcome, read_outcome
from gradsurge.experiments.runs.over_ranks import Ranks
from gradsurge.experiments.runs.run_folder import (
    OUTCOME,
    FolderTaken,
    only_trainer,
    open_folder,
    refuse_taken,
)
from gradsurge.experiments.runs.run_parts import BEST, RunParts
from gradsurge.training import Observer, make_fabric, train
from gradsurge.training.compiling import check_compiler

if TYPE_CHECKING:
    from lightning_fabric import Fabric


@dataclass(frozen=True)
class RunResult:
    """What became of a run.

    Attributes:
        folder: of the run.
        config: what it was trained with.
        state: "finished" now, "complete" before, or "interrupted" with everything saved.
        step: steps done.
        minutes: of this call.
        outcome: of a finished run.
        leader: whether this process is the one to speak for all ranks.
    """

    folder: Path
    config: RunConfig
    state: Literal["finished", "complete", "interrupted"]
    step: int
    minutes: float
    outcome: Outcome | None
    leader: bool = True


def train_run(
    config: RunConfig,
    out: Path,
    *,
    resume: bool = False,
    device: str = "auto",
    workers: int = 0,
    observers: Sequence[Observer] = (),
    on_look: Callable[[EarlyLook], object] | None = None,
    on_stage: Callable[[str], None] = lambda _: None,
) -> RunResult:
    """Train, validate, and measure the best weights at the end.

    Args:
        config: from `plan_run`.
        out: folder of the run.
        resume: go on with the run that is there.
        device: "auto", "cpu", "cuda", "cuda:1", "mps".
        workers: processes that make patches, on each rank.
        observers: told what happens, on rank 0.
        on_look: gets a look at a case at every validation, on rank 0.
        on_stage: told what is being done beside training, on rank 0.

    Raises:
        ValueError: the folder, the settings or the machine do not allow it.
        TrainingError: the data, the validation or the disk failed.
    """
    began = time.monotonic()
    refuse_taken(out, resume=resume)  # before seconds are spent on starting
    fabric = make_fabric(device, config.training.precision)
    ranks = Ranks(fabric.global_rank, fabric.world_size, fabric.device)
    if config.patches.batch % ranks.number:
        raise ValueError(
            f"batch: {config.patches.batch} patches cannot be divided evenly among {ranks.number} "
            f"processes; choose a --batch that {ranks.number} divides"
        )
    if config.training.compile and not (out / OUTCOME).exists():
        with ranks.together():
            check_compiler(fabric.device)
    with ExitStack() as held:
        config, done = _enter(fabric, out, config, resume, held)
        if done is not None:
            steps = config.training.steps
            return RunResult(out, config, "complete", steps, 0.0, done, fabric.is_global_zero)
        with ranks.together():
            look = on_look if fabric.is_global_zero else None
            run = RunParts(config, out, ranks, workers, look)
        end = train(run.job(observers), fabric)
        outcome = None
        if end.reason == "finished":
            if fabric.is_global_zero:
                on_stage("measuring the best weights on all validation cases")
            outcome = run.finish()
        fabric.barrier()
    minutes = (time.monotonic() - began) / 60
    state: Literal["finished", "interrupted"] = "interrupted" if outcome is None else "finished"
    return RunResult(out, config, state, end.step, minutes, outcome, fabric.is_global_zero)


def _enter(
    fabric: "Fabric", out: Path, config: RunConfig, resume: bool, held: ExitStack
) -> tuple[RunConfig, Outcome | None]:
    """Open the folder on rank 0, and keep others out of it unless its run is complete.

    Returns:
        The configuration to train with, and the outcome of a complete run; the same on all ranks.

    Raises:
        ValueError: on all ranks, if the folder does not allow it; `FolderTaken` while another
            process is at work there.
    """
    problem: str | None = None
    taken = False
    done: Outcome | None = None
    if fabric.is_global_zero:
        try:
            config = open_folder(out, config, resume=resume)
            if (out / OUTCOME).exists() and (out / BEST).exists():
                done = read_outcome(out / OUTCOME)
            else:
                held.enter_context(only_trainer(out))
        except ValueError as error:
            problem, taken = str(error), isinstance(error, FolderTaken)
        except OSError as error:
            problem = f"{error.filename or out}: {error.strerror or error}"
    if fabric.world_size > 1:
        problem, taken, done, kept = fabric.broadcast((problem, taken, done, config.to_json()))
        config = RunConfig.from_json(kept)
    if problem is not None:
        raise FolderTaken(problem) if taken else ValueError(problem)
    return config, done
