"""How much of a structure there is: in the label, in the mask, and by the probabilities."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsurge.experiments.viewing.case_view import CaseView, ModelView
from gradsurge.experiments.viewing.structure import Structure, is_one_of

STEPS = 100  # thresholds 0, 1 / STEPS, ..., 1


@dataclass(frozen=True)
class Amounts:
    """Voxels of one structure in one model, all of them counted.

    Attributes:
        label: in the label; None without one.
        mask: in the mask; None without one.
        mask_hits: in both; None unless both are there.
        expected: sum of the probabilities, which is the label's number where they are calibrated;
            None without a map.
        above: number with p >= n / STEPS, for n from 0 to STEPS; None without a map.
        hits: of these, those in the label; None unless both are there.
    """

    label: int | None
    mask: int | None
    mask_hits: int | None
    expected: float | None
    above: tuple[int, ...] | None
    hits: tuple[int, ...] | None


def amounts_of(view: CaseView, model: ModelView, structure: Structure) -> Amounts:
    """Count a structure in the label, in a model's mask and in its map."""
    label = None if view.label is None else is_one_of(view.label, structure.label_numbers)
    mask = None if model.mask is None else is_one_of(model.mask, structure.mask_numbers)
    both = None if label is None or mask is None else int((label & mask).sum())
    p = None if model.maps is None else structure.probability(model.maps)
    return Amounts(
        label=None if label is None else int(label.sum()),
        mask=None if mask is None else int(mask.sum()),
        mask_hits=both,
        expected=None if p is None else float(p.sum(dtype=np.float64)),
        above=None if p is None else counts_above(p),
        hits=None if p is None or label is None else counts_above(p[label]),
    )


def counts_above(p: NDArray[Any]) -> tuple[int, ...]:
    """Return how many values are at least 0, 1 / STEPS, ..., 1.

    Thresholds have the precision of the values, as in the viewer: 0.29 in float32 is at least 0.29.

    >>> counts = counts_above(np.array([0.0, 0.29, 0.5, 1.0], np.float32))
    >>> counts[0], counts[29], counts[30], counts[100]
    (4, 3, 2, 1)
    """
    limits = (np.arange(STEPS + 1) / STEPS).astype(np.float32)
    # Rounding may leave a probability just below 0, or a float64 one just below a threshold.
    values = np.clip(p.ravel(order="K"), 0.0, 1.0).astype(np.float32, copy=False)
    bins = np.searchsorted(limits, values, side="right") - 1
    counted = np.bincount(bins, minlength=STEPS + 1)
    return tuple(int(n) for n in counted[::-1].cumsum()[::-1])
