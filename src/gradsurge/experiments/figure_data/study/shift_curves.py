"""Calibration under distribution shift: a score against the strength of the shift."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from gradsurge.experiments.figure_data.study.lines import (
    Band,
    Line,
    LineName,
    NotInRecords,
    band_of,
    lines_of,
)
from gradsurge.experiments.figure_data.study.studies import StudyRecords
from gradsurge.experiments.runs.corrections import NONE
from gradsurge.experiments.study.record import Record
from gradsurge.experiments.study.shifts import STRENGTHS

SCORES = ("ece", "nll", "dice")
"""From top to bottom; Dice is that of the raw mask, which no correction changes."""


@dataclass(frozen=True)
class ShiftCurves:
    """Lines of a loss and its surgery under every kind of shift.

    Attributes:
        study: its title.
        base: the loss.
        strengths: kind of shift -> its strengths, from weak to strong.
        bands: (kind, score) -> line -> values; the first is that of images as they are.
    """

    study: str
    base: str
    strengths: Mapping[str, tuple[float, ...]]
    bands: Mapping[tuple[str, str], Mapping[LineName, Band]]


def shift_curves(study: StudyRecords, base: str) -> ShiftCurves:
    """Return the curves of a loss and its surgery.

    Raises:
        NotInRecords: neither of them was measured under shift.
    """
    lines = lines_of(study, base)
    bands: dict[tuple[str, str], dict[LineName, Band]] = {}
    for kind in STRENGTHS:
        for score in SCORES:
            found = {line.name: _band(line, kind, score) for line in lines}
            bands[kind, score] = {name: band for name, band in found.items() if band is not None}
    of_pair = {line.name for line in lines if line.name.role != "reference"}
    if not any(of_pair & found.keys() for found in bands.values()):
        raise NotInRecords(f"no record of {base} or its surgery was measured under shift")
    return ShiftCurves(study.title, base, dict(STRENGTHS), bands)


def _band(line: Line, kind: str, score: str) -> Band | None:
    correction = line.name.correction
    if score == "dice" and correction != NONE:
        return None
    steps = len(STRENGTHS[kind])

    def values(record: Record) -> list[float | None]:
        shifted = record.measured.shift.get(kind, {}).get(correction, {}).get(score, [])
        if len(shifted) != steps:  # not measured, or with other strengths
            return []
        return [_unshifted(record, correction, score), *shifted]

    records = [record for record in line.records if values(record)]
    # A run may have lost a case under a shift: as in the table, its line has no number there.
    whole = [None not in step for step in zip(*map(values, records), strict=True)]
    return band_of(
        records,
        lambda r: [v if all_have else None for v, all_have in zip(values(r), whole, strict=True)],
    )


def _unshifted(record: Record, correction: str, score: str) -> float | None:
    measured = record.measured
    if score == "dice":
        return measured.dice["plain"].get(measured.headline, math.nan)
    return measured.pooled[correction]["all"][measured.headline].get(score)
