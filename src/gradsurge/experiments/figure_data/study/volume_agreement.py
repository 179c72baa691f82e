"""Volumes of a structure, estimated as the sum of probabilities, against the true ones."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np

from gradsurge.experiments.figure_data.study.lines import (
    Array,
    Line,
    LineName,
    NotInRecords,
    lines_of,
)
from gradsurge.experiments.figure_data.study.studies import StudyRecords
from gradsurge.experiments.study.record import Record
from gradsurge.experiments.study.tables.volume import agreement
from gradsurge.experiments.study.volume_tally import volume_unit


@dataclass(frozen=True)
class Agreement:
    """How well one line's volumes agree with the truth (Bland and Altman).

    Attributes:
        truth: a value a case, of all runs after each other.
        estimate: the same, the sum of the probabilities.
        bias: mean of estimate - truth.
        low, high: limits of agreement, bias ± 1.96 standard deviations over cases; means over runs,
            as in the table: the cases of one run are independent, those of several are not.
    """

    truth: Array
    estimate: Array
    bias: float
    low: float
    high: float


@dataclass(frozen=True)
class VolumeAgreement:
    """Agreement of the lines of a loss, for one structure.

    Attributes:
        study: its title.
        structure: whose volume it is.
        unit: "ml"; of pictures "cm2", or "100 pixels".
        lines: what is compared.
    """

    study: str
    structure: str
    unit: str
    lines: Mapping[LineName, Agreement]


def volume_agreement(study: StudyRecords, base: str) -> list[VolumeAgreement]:
    """Return the agreement of a loss and its surgery, an entry a structure.

    Raises:
        NotInRecords: there are no volumes of two cases or more.
    """
    lines = lines_of(study, base)
    structures = dict.fromkeys(s for line in lines for s in line.records[0].measured.volumes)
    found = []
    for structure in structures:
        agreements = {line.name: _agreement(line, structure) for line in lines}
        kept = {name: one for name, one in agreements.items() if one is not None}
        if kept:
            unit = volume_unit(lines[0].records[0].measured.dimensions, study.dataset)
            found.append(VolumeAgreement(study.title, structure, unit, kept))
    if not found:
        raise NotInRecords(f"no record of {base} or its surgery has the volumes of two cases")
    return found


def _agreement(line: Line, structure: str) -> Agreement | None:
    runs = [pairs for record in line.records if len(pairs := _known(record, line, structure)) > 1]
    if not runs:
        return None
    told = [agreement(*zip(*pairs, strict=True)) for pairs in runs]
    bias, low, high = (
        math.fsum(cast("float", one[name]) for one in told) / len(told)
        for name in ("bias", "low", "high")
    )
    estimates, truths = np.array([pair for pairs in runs for pair in pairs]).T
    return Agreement(truths, estimates, bias, low, high)


def _known(record: Record, line: Line, structure: str) -> list[tuple[float, float]]:
    """Return (estimate, truth) of the cases that have both."""
    volumes = record.measured.volumes.get(structure, {})
    if line.name.correction not in volumes.get("expected", {}):
        return []
    pairs = zip(volumes["expected"][line.name.correction], volumes["true"], strict=True)
    return [(estimate, true) for estimate, true in pairs if None not in (estimate, true)]
