"""Scores of a run on shifted images, pooled over all cases."""

import math
from collections.abc import Callable, Sequence

from torch import Tensor

from gradsurge.calibration.overlap import dice
from gradsurge.data import CaseError
from gradsurge.data.store import Store
from gradsurge.experiments.evaluation.counting import count_regions
from gradsurge.experiments.evaluation.scoring import mean_of
from gradsurge.experiments.runs.corrections import NONE
from gradsurge.experiments.study.case_voxels import CaseVoxels, case_structures, case_voxels
from gradsurge.experiments.study.measure_settings import MeasureSettings
from gradsurge.experiments.study.run_maps import RunMaps
from gradsurge.experiments.study.score_tally import PooledTally
from gradsurge.experiments.study.shifts import STRENGTHS, shifted

ShiftScores = dict[str, dict[str, dict[str, list[float]]]]
"""Kind -> correction -> score -> a value a strength, from weak to strong."""

SHIFT_SCORES = ("nll", "brier", "ece", "mce", "top_ece")
"""What is kept of the pooled voxels; "dice" and "own_dice", of "none", are means over cases."""


def shifted_scores(
    maps: RunMaps,
    store: Store,
    names: Sequence[str],
    settings: MeasureSettings,
    exact: bool,
    on_case: Callable[[str], object] = lambda _: None,
) -> tuple[ShiftScores, list[tuple[str, str]]]:
    """Measure a run on the cases under every shift.

    Args:
        maps: the run at work.
        store: of the cases.
        names: of the cases.
        settings: of the measurement.
        exact: as of `RunTally`.
        on_case: called with the name of each case, after every shift of it.

    Returns:
        The scores, and (case and shift, message) of what could not be measured. A strength that
        lacks a case has NaN: without it it would be no match for that of other runs.
    """
    found: ShiftScores = {}
    problems: list[tuple[str, str]] = []
    for kind, strengths in STRENGTHS.items():
        rows: dict[str, dict[str, list[float]]] = {name: {} for name in maps.corrections}
        for strength in strengths:
            tally = ShiftTally(maps, exact)
            for name in names:
                image = store.case(name).read_image()
                moved = shifted(image, kind, strength, name, settings.seed)
                try:
                    tally.add(maps.logits(moved), case_voxels(store, name))
                except CaseError as error:
                    tally.incomplete = True
                    problems.append((f"{name} under {kind} {strength:g}", str(error)))
                on_case(name)
            for correction, scores in tally.scores().items():
                for name, value in scores.items():
                    rows[correction].setdefault(name, []).append(value)
        found[kind] = rows
    return found, problems


class ShiftTally:
    """Pooled scores and Dice under one shift.

    Args:
        maps: the run at work.
        exact: as of `RunTally`.

    Attributes:
        incomplete: whether a case is missing; then there are no scores.
    """

    incomplete = False

    def __init__(self, maps: RunMaps, exact: bool) -> None:
        self._maps, self._exact = maps, exact
        self._settings = MeasureSettings(regions=("all",)).evaluation(maps.task, logits=exact)
        names = list(maps.task.names)
        self._pooled = {c: PooledTally(names, self._settings) for c in maps.corrections}
        self._dice: dict[str, list[float]] = {"dice": [], "own_dice": []}

    def add(self, logits: Tensor, voxels: CaseVoxels) -> None:
        """Count a case."""
        for correction, tally in self._pooled.items():
            found = case_structures(
                self._maps, logits, correction, voxels, self._settings, exact=self._exact
            )
            tally.add(count_regions(found, voxels.label, self._settings))
            if correction == NONE:
                own = self._maps.own_masks(logits, voxels.grid)
                for values, masks in zip(self._dice.values(), (found.masks, own), strict=True):
                    pairs = zip(masks, found.labels, strict=True)
                    values.append(mean_of([dice(mask, truth) for mask, truth in pairs]))

    def scores(self) -> dict[str, dict[str, float]]:
        """Return correction -> score -> value."""
        if self.incomplete:
            none = {
                correction: dict.fromkeys(SHIFT_SCORES, math.nan) for correction in self._pooled
            }
            none[NONE] |= dict.fromkeys(self._dice, math.nan)
            return none
        found = {}
        for correction, tally in self._pooled.items():
            pooled = tally.pooled()["all"][tally.headline]
            found[correction] = {name: pooled[name] for name in SHIFT_SCORES}
        found[NONE] |= {name: mean_of(values) for name, values in self._dice.items()}
        return found
