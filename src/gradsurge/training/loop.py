"""The training loop."""

import math
import time
from typing import TYPE_CHECKING

import torch

from gradsurge.training.agreement import agree, gather, mean_over_ranks
from gradsurge.training.beginning import begin
from gradsurge.training.desk import Desk
from gradsurge.training.errors import NonFiniteError, TrainingError
from gradsurge.training.job import BEST, LAST, NONFINITE, StepFacts, TrainEnd, TrainJob
from gradsurge.training.quiet import quiet
from gradsurge.training.randomness import reproducible, seed_step
from gradsurge.training.schedule import learning_rate, set_learning_rate
from gradsurge.training.signals import StopSignal
from gradsurge.training.state import TrainState
from gradsurge.training.supply import Batch, Supply

if TYPE_CHECKING:
    from lightning_fabric import Fabric


def train(job: TrainJob, fabric: "Fabric", *, resume: bool = True) -> TrainEnd:
    """Train a model; model and loss of the job are changed in place.

    The same job gives the same bits, in one go or in pieces; see `gradsurge.training.randomness`.
    SIGTERM or Ctrl-C lets the step finish, saves, and returns; a second Ctrl-C raises
    KeyboardInterrupt at once.

    Args:
        job: what to train, on what, and where to keep it.
        fabric: what to train it on; see `make_fabric`.
        resume: go on from the folder's last.pt if there is one; False starts anew and removes the
            folder's checkpoints.

    Raises:
        ValueError: last.pt is damaged, or of another training; or the model is to be compiled, and
            cannot be here (`NoCompilerError`).
        NonFiniteError: the loss or the gradient is not finite; the state is in nonfinite.pt.
        TrainingError: the data, the validation or the disk failed; what could be saved is.
        OSError: the folder cannot be made.
    """
    settings = job.settings
    with quiet(), reproducible(settings, fabric.device), StopSignal() as stop:
        state = begin(job, fabric, resume)
        with Desk(state) as desk, Supply(job, fabric, state.step) as supply:
            desk.started()
            while True:
                batches = supply.take() if state.step < settings.steps else []
                # Who asks us to stop may have stopped the data's workers as well.
                lost = None if stop.asked else supply.problem
                verdict = agree(fabric, stop.asked, lost or desk.problem)
                if verdict.stop:
                    break
                if state.validation_is_due():
                    validate(state, desk)
                if not batches:
                    break
                began, rate = time.perf_counter(), learning_rate(settings, state.step)
                loss, norm = take_step(state, batches, rate, desk)
                seconds = supply.waiting + time.perf_counter() - began
                desk.step(StepFacts(state.step, loss, rate, norm, seconds, supply.waiting))
                if state.is_due(settings.checkpoint_every) or state.validation_is_due():
                    desk.save(LAST)
            desk.save(LAST)
            stop_if_any(state, desk, verdict.problem or desk.problem)
            done = state.step == settings.steps and not state.validation_is_due()
            desk.reason = "finished" if done else "interrupted"
    return desk.end()


def take_step(
    state: TrainState, batches: list[Batch], rate: float, desk: Desk
) -> tuple[float, float]:
    """Learn from the batches; return the loss and the length of the gradient."""
    job, fabric, settings = state.job, state.fabric, state.settings
    seed_step(settings.seed, state.step, fabric.global_rank)
    set_learning_rate(state.optimiser, rate)
    if job.before_step is not None:
        job.before_step(state.step)
    total = torch.zeros((), device=fabric.device)
    for i, batch in enumerate(batches, start=1):
        with fabric.no_backward_sync(state.model, enabled=i < len(batches)):
            logits = state.model(batch["image"])
            mask = {"mask": batch["mask"]} if "mask" in batch else {}
            loss = job.loss(logits, batch["label"], **mask) / len(batches)
            fabric.backward(loss)
        total += loss.detach()
    norm = fabric.clip_gradients(
        state.model, state.optimiser, max_norm=settings.clip or math.inf, error_if_nonfinite=False
    )
    mean, length = mean_over_ranks(fabric, total), float(norm)
    stop_if_not_finite(state, desk, mean, length, batches)
    state.optimiser.step()
    state.optimiser.zero_grad()
    if state.average is not None:
        state.average.update(job.model, state.step - job.average_from)
    state.step += 1
    return mean, length


def validate(state: TrainState, desk: Desk) -> None:
    """Validate the model, and keep it if it is the best.

    The state was saved before: a kill in a long validation costs no step. Random numbers of the
    validation do not matter to the next step, which sets its own. If the best cannot be written,
    the last state stays the one before the validation, and resuming repeats it.
    """
    if state.job.validate is None:
        return
    seed_step(state.settings.seed, state.step, state.fabric.global_rank)
    best, scores, lost = False, {}, None
    try:
        with state.ready_to_predict():
            scores = dict(state.job.validate(state.job.model, state.step))
        best = state.note(scores)
    except (ValueError, OSError) as error:
        lost = f"validation after step {state.step}: {' '.join(str(error).split())}"
    stop_if_any(state, desk, lost)
    desk.validated(scores, best)
    if best:
        desk.save(BEST)
    stop_if_any(state, desk, desk.problem)
    desk.save(LAST)


def stop_if_any(state: TrainState, desk: Desk, problem: str | None) -> None:
    """Stop all ranks, and say the same on all, if one of them has a problem."""
    found = agree(state.fabric, False, problem).problem
    if found is not None:
        raise TrainingError(f"{found}; {state.fabric.broadcast(desk.kept())}")


def stop_if_not_finite(
    state: TrainState, desk: Desk, loss: float, norm: float, batches: list[Batch]
) -> None:
    """Keep the state before the step for a look, and stop, if the step makes no sense.

    With "16-mixed" an infinite gradient is no fault: the step is left out and the scale lowered.
    """
    scaled = bool(state.fabric.strategy.precision.state_dict())
    if math.isfinite(loss) and (scaled or math.isfinite(norm)):
        return
    own = [str(case) for batch in batches for case in batch["case"]]
    cases = [case for rank in gather(state.fabric, own) for case in rank]
    what = "the gradient" if math.isfinite(loss) else "the loss"
    desk.save(NONFINITE, {"loss": loss, "grad_norm": norm, "cases": cases})
    raise NonFiniteError(what, state.step, cases, state.job.folder / NONFINITE, desk.problem)
