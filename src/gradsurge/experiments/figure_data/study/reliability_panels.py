"""Reliability before and after: a loss, with its temperature, its surgery raw and corrected."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsurge.calibration.scores import Bins
from gradsurge.experiments.figure_data.study.lines import (
    Array,
    Line,
    LineName,
    NotInRecords,
    lines_of,
)
from gradsurge.experiments.figure_data.study.studies import StudyRecords
from gradsurge.experiments.study.coarse_sketch import BINS as KEPT_BINS
from gradsurge.experiments.study.coarse_sketch import read_coarse
from gradsurge.experiments.study.record import Record, record_file
from gradsurge.experiments.study.tables.profile_scores import score

BINS, SCORES = 15, ("nll", "ece")


@dataclass(frozen=True)
class Panel:
    """One diagram; all structures and voxels of the test cases together.

    Attributes:
        name: what it is of.
        probability, frequency: a row a run, a column a bin; NaN where a bin is empty.
        voxels: of all runs together, a bin each.
        scores: means over runs.
    """

    name: LineName
    probability: Array
    frequency: Array
    voxels: Array
    scores: Mapping[str, float]


@dataclass(frozen=True)
class ReliabilityPanels:
    """Diagrams that share their axes, and the title of their study."""

    study: str
    panels: tuple[Panel, ...]


def reliability_panels(study: StudyRecords, base: str) -> ReliabilityPanels:
    """Return a panel for each line of a loss and its surgery.

    Raises:
        NotInRecords: the bins of a record are missing or damaged.
    """
    lines = [line for line in lines_of(study, base) if line.name.role != "reference"]
    try:
        panels = tuple(_panel(study, line) for line in lines)
    except ValueError as error:
        raise NotInRecords(str(error)) from error
    return ReliabilityPanels(study.title, panels)


def _panel(study: StudyRecords, line: Line) -> Panel:
    runs = [_pooled(study, record, line.name.correction) for record in line.records]
    counts = np.array([run.counts for run in runs], np.float64)
    some = np.where(counts > 0, counts, np.nan)
    found = {
        name: [score(r, name, "foreground", correction=line.name.correction) for r in line.records]
        for name in SCORES
    }
    return Panel(
        line.name,
        np.array([run.sums for run in runs]) / some,
        np.array([run.positives for run in runs]) / some,
        counts.sum(axis=0),
        {
            name: float(np.mean([v for v in values if v is not None] or [np.nan]))
            for name, values in found.items()
        },
    )


def _pooled(study: StudyRecords, record: Record, correction: str) -> Bins:
    """Return the bins of all structures of a run together."""
    file = record_file(study.folder, record.variant, record.run).with_suffix(".npz")
    kept = [
        bins
        for (of, region, _), bins in read_coarse(file).items()
        if (of, region) == (correction, "all")
    ]
    if not kept:
        raise ValueError(f"{record.variant} {record.run}: no bins of {correction}")
    return Bins(
        _joined(np.sum([bins.counts for bins in kept], axis=0)),
        _joined(np.sum([bins.sums for bins in kept], axis=0)),
        _joined(np.sum([bins.positives for bins in kept], axis=0)),
    )


def _joined(fine: NDArray[Any]) -> NDArray[Any]:
    joined: NDArray[Any] = fine.reshape(BINS, KEPT_BINS // BINS).sum(axis=1)
    return joined
