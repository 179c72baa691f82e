"""What a worker does with a point that it has claimed."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gradsurge.experiments.search.attempt import END, RESULT, Attempt, goes_on
from gradsurge.experiments.search.heart import Heart, Pulse
from gradsurge.experiments.search.search_trial import trial_of
from gradsurge.experiments.search.states import add_next, close, complete
from gradsurge.experiments.search.storage import insist
from gradsurge.experiments.search.worker_contract import (
    NOT_HERE,
    Train,
    TrialInterrupted,
    TrialOutcome,
    WorkerSettings,
    WorkerWatcher,
)

if TYPE_CHECKING:
    from optuna import Study

FAILURES = (ValueError, RuntimeError, OSError, MemoryError, ArithmeticError)
"""What may go wrong with one training and leave the others alone."""
_LONGEST_REASON = 500


class Shift:
    """Trains claimed points, one after the other, and tells the study what came of them.

    Args:
        study: where they were claimed.
        train: trains a point.
        pulse: knows how far it is.
        settings: how to behave.
        watcher: told what happens.

    Attributes:
        trained: indices of the points trained to their end.
        interrupted: whether a signal has stopped the last one.
    """

    def __init__(
        self,
        study: "Study",
        train: Train,
        pulse: Pulse,
        settings: WorkerSettings,
        watcher: WorkerWatcher,
    ) -> None:
        self._study, self._train, self._pulse = study, train, pulse
        self._settings, self._watcher = settings, watcher
        self.trained: list[int] = []
        self.interrupted = False

    def work(self, chain: Sequence[Attempt]) -> None:
        """Train a point.

        Args:
            chain: its attempts; the last one is this worker's.
        """
        attempt = chain[-1]
        self._pulse.reset()
        self._watcher.claimed(trial_of(chain))
        heart = Heart(self._study, attempt, self._pulse, self._settings.beat)
        try:
            with heart:
                outcome = _checked(self._train(attempt.index, attempt.values))
        except TrialInterrupted:
            self.interrupted = True
            self._hand_back(chain, heart)
        except NOT_HERE as error:
            self._hand_back(chain, heart, _one_line(error))
            raise
        except KeyboardInterrupt:
            self._hand_back(chain, heart)
            raise
        except FAILURES as error:
            self._fail(chain, heart, error)
        except BaseException as error:
            self._fail(chain, heart, error)
            raise
        else:
            self._finish(chain, heart, outcome)

    def _finish(self, chain: Sequence[Attempt], heart: Heart, outcome: TrialOutcome) -> None:
        result = {
            "run": outcome.run,
            "minutes": heart.minutes,
            "step": outcome.step,
            "scores": dict(outcome.scores),
        }
        # Thought dead and taken over, it leaves the result to the other worker, who finds the run.
        if insist(lambda: complete(self._study, chain[-1], outcome.dice, result)):
            self.trained.append(chain[-1].index)
            facts = {**chain[-1].facts, RESULT: result}
            done = replace(chain[-1], state="complete", dice=outcome.dice, facts=facts)
            self._watcher.finished(trial_of([*chain[:-1], done]))

    def _hand_back(
        self, chain: Sequence[Attempt], heart: Heart, reason: str = "its worker was stopped"
    ) -> None:
        """Let a point wait again at once."""
        step = self._pulse.done
        reason += "" if step is None else f" after step {step}"
        self._end(chain, {"kind": "released", "reason": reason, "again": True}, heart)

    def _fail(self, chain: Sequence[Attempt], heart: Heart, error: BaseException) -> None:
        if self._pulse.lost:  # stopped because it belongs to another worker
            return
        end = {"kind": "error", "reason": _one_line(error), "began": self._pulse.began}
        again = goes_on(chain, end, self._settings.tries)
        ended = self._end(chain, {**end, "again": again}, heart)
        self._watcher.failed(trial_of([*chain[:-1], ended]))

    def _end(self, chain: Sequence[Attempt], end: dict[str, Any], heart: Heart) -> Attempt:
        told = {"began": self._pulse.began, **end, "minutes": heart.minutes}
        facts = {**chain[-1].facts, END: told}
        ended = replace(chain[-1], state="closed", facts=facts)
        if insist(lambda: close(self._study, chain[-1], told)) and told["again"]:
            insist(lambda: add_next(self._study, ended))
        return ended


def _checked(outcome: TrialOutcome) -> TrialOutcome:
    if not math.isfinite(outcome.dice):
        raise ValueError(f"validation Dice: expected a number, got {outcome.dice}")
    return outcome


def _one_line(error: BaseException) -> str:
    """Return an error in one line.

    >>> _one_line(ValueError("too  long"))
    'too long'
    >>> _one_line(KeyError("x"))
    "KeyError: 'x'"
    """
    text = " ".join(str(error).split())
    if not text or not isinstance(error, ValueError | RuntimeError | OSError):
        text = f"{type(error).__name__}: {text}".rstrip(": ")
    return text if len(text) <= _LONGEST_REASON else f"{text[: _LONGEST_REASON - 3]}..."
