"""Scores of every loss as it is, after the closed form, and after temperature scaling."""

from collections.abc import Mapping
from dataclasses import dataclass

from gradsurge.experiments.figure_data.study.lines import (
    EQUILIBRIUM,
    TEMPERATURE,
    Band,
    NotInRecords,
    band_of,
)
from gradsurge.experiments.figure_data.study.studies import StudyRecords
from gradsurge.experiments.runs.corrections import NONE
from gradsurge.experiments.study.tables.profile_scores import score
from gradsurge.losses import LOSSES

SCORES = ("nll", "ece")
WAYS = (NONE, EQUILIBRIUM, TEMPERATURE)


@dataclass(frozen=True)
class RawCorrected:
    """Losses and their scores, pooled over all voxels.

    Attributes:
        study: its title.
        losses: that have records, in the order of the catalogue.
        scores: (loss, score) -> correction -> mean, smallest and largest over runs, one value each.
    """

    study: str
    losses: tuple[str, ...]
    scores: Mapping[tuple[str, str], Mapping[str, Band]]


def raw_corrected(study: StudyRecords) -> RawCorrected:
    """Return the scores of all variants that bear the plain name of a loss.

    Raises:
        NotInRecords: there are none.
    """
    losses = [name for name in LOSSES if study.of(name)]
    if not losses:
        raise NotInRecords("no variant that bears the plain name of a loss has a record")
    found = {(loss, name): _bands(study, loss, name) for loss in losses for name in SCORES}
    return RawCorrected(study.title, tuple(losses), found)


def _bands(study: StudyRecords, loss: str, name: str) -> dict[str, Band]:
    bands = {
        way: band_of(
            study.of(loss),
            lambda record, way=way: [score(record, name, "foreground", correction=way)],  # type: ignore[misc]
        )
        for way in WAYS
    }
    return {way: band for way, band in bands.items() if band is not None}
