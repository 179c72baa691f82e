"""Which validations may be the best of a run whose surgery sets in later."""

import math
from collections.abc import Callable, Mapping

from torch import nn

from gradsurge.experiments.runs.surgery_schedule import SurgerySchedule
from gradsurge.training import Observer, StepFacts, TrainEnd, TrainStart

BEFORE = "dice before surgery"
Validate = Callable[[nn.Module, int], Mapping[str, float]]


def counted_from_full_surgery(validate: Validate, surgery: SurgerySchedule, steps: int) -> Validate:
    """Return a validation whose Dice counts only once the whole surgery is at work.

    Weights of the plain beginning may have the highest Dice, but nothing of the calibration that
    the run is for. Until then "dice" is NaN, which no training takes for its best, and the score
    goes by another name.

    Args:
        validate: what is scored.
        surgery: when it sets in.
        steps: of the training.
    """

    def scores(model: nn.Module, step: int) -> Mapping[str, float]:
        found = validate(model, step)
        # A validation after so many steps follows the step of one number less.
        if surgery.blend(step - 1, steps) == 1.0:
            return found
        return {**found, "dice": math.nan, BEFORE: found["dice"]}

    return scores


class AllDice(Observer):
    """Tells another observer the Dice of every validation, whether it counts or not."""

    def __init__(self, observer: Observer) -> None:
        self._observer = observer

    def started(self, start: TrainStart) -> None:
        self._observer.started(start)

    def step(self, facts: StepFacts) -> None:
        self._observer.step(facts)

    def saving(self, step: int) -> None:
        self._observer.saving(step)

    def validated(self, step: int, scores: Mapping[str, float], best: bool) -> None:
        told = {name: value for name, value in scores.items() if name != BEFORE}
        if BEFORE in scores:
            told["dice"] = scores[BEFORE]
        self._observer.validated(step, told, best)

    def stopped(self, end: TrainEnd) -> None:
        self._observer.stopped(end)
