"""The end of a training: the best weights on all validation cases, raw and corrected."""

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from gradsurge.calibration import CalibrationSketch, Recalibration
from gradsurge.calibration.known_cases import KnownCases
from gradsurge.experiments.runs.case_scores import case_dice, mean_dice
from gradsurge.experiments.runs.corrections import (
    NONE,
    default_correction,
    equilibrium_of,
    fitted_corrections,
)
from gradsurge.experiments.runs.outcome import Outcome, Scores, number
from gradsurge.experiments.runs.over_ranks import ALONE, Ranks
from gradsurge.experiments.runs.recalibrated_counts import corrected, count_corrected
from gradsurge.experiments.runs.task import Task
from gradsurge.experiments.runs.theory_threshold import theory_thresholds
from gradsurge.experiments.runs.validation import count_case
from gradsurge.experiments.runs.whole_cases import KeptLogits, WholeCases, evaluating

AT_THRESHOLDS = "at thresholds"


class Ending(NamedTuple):
    """What a run writes at its end: raw sketch, corrections by name, and the outcome."""

    sketch: CalibrationSketch
    corrections: dict[str, Recalibration]
    outcome: Outcome


@dataclass
class FinalValidation:
    """Measures a trained model on validation cases, each rank on its share.

    A first pass counts raw logits, on which bias and temperature are fitted; a second one measures
    every correction voxel by voxel. Logits that fit in memory are computed once.

    Attributes:
        task: what the model tells.
        cases: how logits of a case are had.
        names: of all validation cases.
        ranks: this process among all.
    """

    task: Task
    cases: WholeCases
    names: Sequence[str]
    ranks: Ranks = ALONE

    def run(self, model: nn.Module, loss: nn.Module, step: int, steps: int) -> Ending:
        """Return the ending of a training.

        Args:
            model: with its best weights.
            loss: with the state it had at that step.
            step: when that was.
            steps: of the training.
        """
        share = self.ranks.share(self.names)
        with evaluating(model):
            kept = KeptLogits(self.cases, model, [name for _, name in share])
            sketch = self._raw_sketch(kept)
            found, notes = _equilibrium(loss)
            corrections = {**found, **fitted_corrections(sketch)}
            notes += [f"{name}: {c.note}" for name, c in corrections.items() if c.note]
            thresholds = best_thresholds(sketch)
            sketches, dice = self._measure(kept, corrections, thresholds)
        rows = {
            name: self._scores(sketches.get(name, sketch), dice[name])
            for name in (NONE, *corrections)
        }
        nll = {name: math.inf if row.nll is None else row.nll for name, row in rows.items()}
        at_thresholds = number(mean_dice(self.task.names, dice[AT_THRESHOLDS])[0])
        outcome = Outcome(
            step=step,
            steps=steps,
            cases=len(self.names),
            scores=rows,
            correction=default_correction(nll),
            threshold_dice=at_thresholds,
            mask_thresholds=self._of_masks(thresholds, rows[NONE].dice, at_thresholds),
            theory_thresholds=theory_thresholds(self.task, loss, sketch) if found else None,
            notes=tuple(notes),
        )
        return Ending(sketch, corrections, outcome)

    def _raw_sketch(self, kept: KeptLogits) -> CalibrationSketch:
        """Count the raw logits of all ranks, and which cases they are."""
        sketch = self.task.empty_sketch()
        digests = torch.zeros(len(self.names), dtype=torch.int64)
        places = {name: place for place, name in self.ranks.share(self.names)}
        with self.ranks.together():
            for name, logits in kept:
                label = self.cases.label(name)
                count_case(self.task, sketch, logits, label)
                (digest,) = KnownCases.of(label.numpy(), logits.numpy(), 0).digests
                digests[places[name]] = digest - (1 << 64) if digest >= 1 << 63 else digest
        total = self.ranks.summed_sketch(sketch)
        known = {d % (1 << 64) for d in self.ranks.summed(digests).tolist()}
        total.cases = KnownCases(known, total.voxels)
        return total

    def _measure(
        self,
        kept: KeptLogits,
        corrections: Mapping[str, Recalibration],
        thresholds: Sequence[float],
    ) -> tuple[dict[str, CalibrationSketch], dict[str, Tensor]]:
        """Return the sketch after each correction, and rows of Dice (cases, F) of every mask."""
        task = self.task
        sketches = {name: task.empty_sketch() for name in corrections}
        shape = len(self.names), len(task.names)
        rows = {
            name: torch.zeros(shape, dtype=torch.float64)
            for name in (NONE, AT_THRESHOLDS, *corrections)
        }
        places = {name: place for place, name in self.ranks.share(self.names)}
        with self.ranks.together():
            for name, logits in kept:
                label, place = self.cases.label(name), places[name]
                raw = corrected(task, None, logits)
                rows[NONE][place] = _row(case_dice(task, raw, label))
                rows[AT_THRESHOLDS][place] = _row(case_dice(task, raw, label, thresholds))
                for how, correction in corrections.items():
                    count_corrected(task, sketches[how], correction, logits, label)
                    p = corrected(task, correction, logits)
                    rows[how][place] = _row(case_dice(task, p, label))
        return (
            {how: self.ranks.summed_sketch(s) for how, s in sketches.items()},
            {how: self.ranks.summed(values) for how, values in rows.items()},
        )

    def _of_masks(
        self, found: tuple[float, ...], before: float | None, after: float | None
    ) -> tuple[float, ...] | None:
        if before is None or after is None or after > before:
            return found
        return None if self.task.kind == "multiclass" else (0.5,) * len(found)

    def _scores(self, sketch: CalibrationSketch, rows: Tensor) -> Scores:
        dice, by_name = mean_dice(self.task.names, rows)
        best = [float(sketch.best_threshold(c).dice) for c in sketch.foreground]
        kept = [value for value in best if not math.isnan(value)]
        return Scores(
            nll=number(sketch.nll()),
            ece=number(sketch.ece()),
            mce=number(sketch.mce()),
            brier=number(sketch.brier()),
            dice=number(dice),
            class_dice={name: number(value) for name, value in by_name.items()},
            thresholds=best_thresholds(sketch),
            best_dice=sum(kept) / len(kept) if kept else None,
        )


def best_thresholds(sketch: CalibrationSketch) -> tuple[float, ...]:
    """Return the Dice-optimal threshold of each foreground class; 1/2 where it never occurs."""
    found = [sketch.best_threshold(c).threshold for c in sketch.foreground]
    return tuple(0.5 if math.isnan(t) else float(t) for t in found)


def _equilibrium(loss: nn.Module) -> tuple[dict[str, Recalibration], list[str]]:
    """Return the equilibrium by name, if there is one, and what it has to say."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found, note = equilibrium_of(loss)
    notes = [" ".join(str(w.message).split()) for w in said] + ([note] if note else [])
    return ({} if found is None else {"equilibrium": found}), notes


def _row(values: Sequence[float]) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)
