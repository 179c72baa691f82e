"""One of any number of processes that work on a study."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from gradsurge.experiments.search.heart import Pulse
from gradsurge.experiments.search.presence import Worker, present
from gradsurge.experiments.search.search_trial import read_trials
from gradsurge.experiments.search.shift import Shift
from gradsurge.experiments.search.storage import insist
from gradsurge.experiments.search.take_up import Held, Undertaker, claim_next
from gradsurge.experiments.search.worker_contract import Train, WorkerSettings, WorkerWatcher

if TYPE_CHECKING:
    from optuna import Study


Reason = Literal["complete", "left", "interrupted"]


@dataclass(frozen=True)
class WorkerEnd:
    """How a worker ended.

    Attributes:
        reason: "complete" (every trial is done or has failed), "left" (others are still at work)
            or "interrupted" by a signal, with everything saved.
        trained: indices of the trials it has trained to their end.
    """

    reason: Reason
    trained: tuple[int, ...]


def run_worker(
    study: "Study",
    train: Train,
    *,
    folder: Path | None = None,
    held: Held = lambda index, point: False,
    pulse: Pulse | None = None,
    settings: WorkerSettings | None = None,
    watcher: WorkerWatcher | None = None,
) -> WorkerEnd:
    """Claim and train what waits in a study, until nothing does.

    SIGTERM or Ctrl-C lets the training save; its trial waits again at once.

    Args:
        study: from `open_study`.
        train: trains a point; it is to raise `TrialInterrupted` if a signal stopped it.
        folder: of the search, the same for all workers: those of one machine see there at once
            that another has died. Without it, only its silence tells.
        held: tells whether somebody works in the run folder of a point: it is left alone then.
        pulse: given to the trainings as an observer, it tells others how far they are.
        settings: how to behave.
        watcher: told what happens.

    Raises:
        ValueError: the storage is out of reach for long, or nothing can be trained here.
    """
    worker, chosen = Worker(), settings or WorkerSettings()
    teller, pulse = watcher or WorkerWatcher(), pulse or Pulse()
    shift = Shift(study, train, pulse, chosen, teller)
    undertaker = Undertaker(study, folder, held, chosen.grace, chosen.tries)
    idle = False
    reason: Reason = "interrupted"
    with pulse.listening() as stop, present(folder, worker):
        while not stop.asked:
            chain = insist(lambda: claim_next(study, worker, held))
            if chain is not None:
                idle = False
                shift.work(chain)
                if shift.interrupted:
                    break
                continue
            unsure = insist(undertaker.look)
            trials = [t for t in insist(lambda: read_trials(study)) if t.state != "failed"]
            if all(trial.state == "done" for trial in trials):
                reason = "complete"
                break
            if any(t.state == "waiting" and not held(t.index, t.point) for t in trials):
                continue
            if not chosen.stay and not unsure:
                reason = "left"
                break
            if not idle:
                idle = True
                teller.idle(trials)
            time.sleep(chosen.poll)
    # Who works on the next study has to know of a signal in the last moments of this one.
    return WorkerEnd("interrupted" if stop.asked else reason, tuple(shift.trained))
