"""The lines that figures of a study compare: a loss and its surgery, raw and corrected."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from gradsurge.experiments.figure_data.study.studies import StudyRecords
from gradsurge.experiments.runs.corrections import NONE
from gradsurge.experiments.study.record import Record
from gradsurge.losses import LOSSES

Array = NDArray[np.float64]
Role = Literal["reference", "base", "scaled", "surgery", "corrected"]

SURGERY = "-surgery"
EQUILIBRIUM, TEMPERATURE = "equilibrium", "temperature"


class NotInRecords(ValueError):
    """Records do not hold what a figure shows; the message says what is missing."""


@dataclass(frozen=True)
class LineName:
    """One line of a figure.

    Attributes:
        role: "reference" is cross-entropy, "base" a loss, "scaled" the same with the temperature
            fitted on validation cases, "surgery" its surgery, and "corrected" that after the
            closed-form correction.
        variant: whose records it shows.
        correction: of the probabilities.
    """

    role: Role
    variant: str
    correction: str


@dataclass(frozen=True)
class Line:
    """A line's name and the runs it is drawn from."""

    name: LineName
    records: tuple[Record, ...]


@dataclass(frozen=True)
class Band:
    """Means over runs, with the smallest and largest of them; NaN where no run has a value."""

    mean: Array
    low: Array
    high: Array


def surgery_bases(study: StudyRecords) -> list[str]:
    """Return the losses that have records both as they are and with surgery."""
    there = set(study.variants)
    return [
        name
        for name in LOSSES
        if not name.endswith(SURGERY) and {name, f"{name}{SURGERY}"} <= there
    ]


def lines_of(study: StudyRecords, base: str) -> list[Line]:
    """Return cross-entropy, a loss, the loss with its temperature, its surgery raw and corrected.

    What has no record, or no such correction in every run, is left out.
    """
    surgery = f"{base}{SURGERY}"
    wanted = (
        LineName("reference", "ce", NONE),
        LineName("base", base, NONE),
        LineName("scaled", base, TEMPERATURE),
        LineName("surgery", surgery, NONE),
        LineName("corrected", surgery, EQUILIBRIUM),
    )
    found = []
    for name in wanted:
        records = tuple(study.of(name.variant))
        if records and all(name.correction in r.measured.pooled for r in records):
            found.append(Line(name, records))
    return found


def band_of(
    records: Sequence[Record], values: Callable[[Record], Sequence[float | None]]
) -> Band | None:
    """Return the band of a list of values a run; None if no run has any, or they differ in length.

    Args:
        records: of one line.
        values: what is taken of each.
    """
    rows = [[math.nan if v is None else float(v) for v in values(record)] for record in records]
    if not rows or not rows[0] or len({len(row) for row in rows}) > 1:
        return None
    table = np.array(rows)
    some = ~np.isnan(table).all(axis=0)
    if not some.any():
        return None
    parts = [np.full(table.shape[1], math.nan) for _ in range(3)]
    reductions: tuple[Any, ...] = (np.nanmean, np.nanmin, np.nanmax)
    for part, reduce in zip(parts, reductions, strict=True):
        part[some] = reduce(table[:, some], axis=0)
    return Band(*parts)
