"""Scores of a model on whole validation cases while it trains."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from gradsurge.calibration import CalibrationSketch
from gradsurge.experiments.runs.case_scores import case_dice, mean_dice
from gradsurge.experiments.runs.early_look import EarlyLook, look_at
from gradsurge.experiments.runs.over_ranks import ALONE, Ranks
from gradsurge.experiments.runs.task import Task
from gradsurge.experiments.runs.whole_cases import WholeCases, evaluating


@dataclass
class Validation:
    """Called with model and step, returns Dice and calibration, the same on all ranks.

    Every rank takes its share of the cases. The sketch pools the voxels of all cases; Dice is the
    mean over cases, of p > 1/2 or the likeliest class.

    Attributes:
        task: what the model tells.
        cases: how logits of a case are had.
        names: of the cases.
        ranks: this process among all.
        on_look: gets a look at the first case.
    """

    task: Task
    cases: WholeCases
    names: Sequence[str]
    ranks: Ranks = ALONE
    on_look: Callable[[EarlyLook], object] | None = None

    def __call__(self, model: nn.Module, step: int) -> dict[str, float]:
        """Return "dice", "dice/<class>" where there are several, "nll", "ece" and "brier"."""
        sketch = self.task.empty_sketch()
        rows = torch.zeros(len(self.names), len(self.task.names), dtype=torch.float64)
        with self.ranks.together(), evaluating(model):
            for place, name in self.ranks.share(self.names):
                logits, label = self.cases.logits(model, name), self.cases.label(name)
                count_case(self.task, sketch, logits, label)
                p = self.task.probabilities(logits)
                found = case_dice(self.task, p, label)
                rows[place] = torch.tensor(found, dtype=torch.float64)
                if place == 0 and self.on_look is not None:
                    self.on_look(self._look(name, step, label, p, found))
        return self._scores(self.ranks.summed_sketch(sketch), self.ranks.summed(rows))

    def _scores(self, sketch: CalibrationSketch, rows: Tensor) -> dict[str, float]:
        dice, by_name = mean_dice(self.task.names, rows)
        found = {"dice": dice, "nll": sketch.nll(), "ece": sketch.ece(), "brier": sketch.brier()}
        if len(by_name) > 1:
            found |= {f"dice/{name}": value for name, value in by_name.items()}
        return found

    def _look(
        self, name: str, step: int, label: Tensor, p: Tensor, dice: Sequence[float]
    ) -> EarlyLook:
        image, spacing = self.cases.image(name), self.cases.case(name).spacing
        return look_at(self.task, name, step, image, label, p, dice, spacing)


def count_case(task: Task, sketch: CalibrationSketch, logits: Tensor, label: Tensor) -> None:
    """Count the known voxels of a case: logits (K, *S), label (*S)."""
    known = task.known(label)
    mask = None if known is None else known.unsqueeze(0)
    sketch.update_logits(logits.unsqueeze(0), task.sketch_labels(label), mask)


def validation_names(shares: dict[str, float], number: int | None) -> list[str]:
    """Choose so many validation cases, evenly among those with foreground.

    The one with the most foreground comes first: it is the one that is looked at.

    Args:
        shares: name -> share of foreground.
        number: how many; None for all.

    >>> validation_names({"a": 0.1, "b": 0.0, "c": 0.2, "d": 0.1}, 2)
    ['c', 'a']

    Raises:
        ValueError: there is no such number, or no case with foreground.
    """
    if number is not None and number < 1:
        raise ValueError(f"validation_cases: expected a whole number above 0, got {number}")
    names, told = list(shares), [name for name, share in shares.items() if share > 0]
    if not told:
        raise ValueError(
            f"validation: none of the {len(names)} cases has foreground, so no Dice can tell the "
            f"best model; prepare the store with another split"
        )
    order = [*told, *(name for name in names if name not in set(told))]
    if number is not None and number < len(names):
        pool = told if number <= len(told) else order
        order = [pool[i * len(pool) // number] for i in range(number)]
    looked_at = max(order, key=lambda name: shares[name])
    return [looked_at, *(name for name in order if name != looked_at)]
