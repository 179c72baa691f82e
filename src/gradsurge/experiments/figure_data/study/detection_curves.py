"""Lesions that are found against false alarms, over the threshold of the probabilities."""

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
from gradsurge.experiments.study.record import Record


@dataclass(frozen=True)
class DetectionCurve:
    """One line: its thresholds, the rate of detection, and false positives a case; over runs."""

    thresholds: tuple[float, ...]
    rate: Band
    false_positives: Band


@dataclass(frozen=True)
class DetectionCurves:
    """The lines of a loss, for one structure.

    Attributes:
        study: its title.
        structure: whose lesions they are.
        lesions: how many there are.
        cases: in how many cases.
        lines: what is compared.
    """

    study: str
    structure: str
    lesions: int
    cases: int
    lines: Mapping[LineName, DetectionCurve]


def detection_curves(study: StudyRecords, base: str) -> list[DetectionCurves]:
    """Return the curves of a loss and its surgery, an entry a structure with lesions.

    Raises:
        NotInRecords: no lesion was counted.
    """
    lines = lines_of(study, base)
    structures = dict.fromkeys(s for line in lines for s in line.records[0].measured.detection)
    found = []
    for structure in structures:
        curves = {line.name: _curve(line, structure) for line in lines}
        kept = {name: curve for name, curve in curves.items() if curve is not None}
        if kept:
            counted = [line.records[0] for line in lines if line.name in kept]
            about = counted[0].measured.detection[structure]
            found.append(
                DetectionCurves(study.title, structure, about["lesions"], about["cases"], kept)
            )
    if not found:
        raise NotInRecords(
            f"no record of {base} or its surgery has lesions counted over thresholds"
        )
    return found


def _curve(line: Line, structure: str) -> DetectionCurve | None:
    def counts(record: Record, name: str, of: str) -> list[float | None]:
        about = record.measured.detection.get(structure, {})
        if not about.get(of):
            return []
        return [n / about[of] for n in about.get(line.name.correction, {}).get(name, [])]

    rate = band_of(line.records, lambda record: counts(record, "detected", "lesions"))
    false = band_of(line.records, lambda record: counts(record, "false_positives", "cases"))
    if rate is None or false is None:
        return None
    thresholds = tuple(line.records[0].measured.detection[structure]["thresholds"])
    if len(thresholds) != len(rate.mean):
        return None
    return DetectionCurve(thresholds, rate, false)
