"""Table 3 as a figure: scores against the decline exponent n, ours beside the paper's."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gradsurge.experiments.figure_data.study.lines import Array, Band, NotInRecords, band_of
from gradsurge.experiments.figure_data.study.studies import StudyRecords
from gradsurge.experiments.published import published_table
from gradsurge.experiments.study.tables.profile_scores import DSC, score

SCORES = ("nll", "ece", "mce", "brier", DSC)
"""Columns of Table 3."""
USUAL = 20


@dataclass(frozen=True)
class ExponentAblation:
    """Scores over n, as shares of those at one n, which puts two data sets on one scale.

    Attributes:
        study: its title.
        loss: whose exponent it is.
        reference: the n that is 1.
        exponents: ours, from small to large.
        ours: score -> its values, with the spread over seeds.
        paper_exponents: the paper's.
        paper: score -> its values.
    """

    study: str
    loss: str
    reference: int
    exponents: tuple[int, ...]
    ours: Mapping[str, Band]
    paper_exponents: tuple[int, ...]
    paper: Mapping[str, Array]


def exponent_ablation(study: StudyRecords) -> ExponentAblation:
    """Return the ablation of the loss with the most exponents, by the paper's definitions.

    Raises:
        NotInRecords: there are fewer than two exponents.
    """
    found: dict[str, dict[int, str]] = {}
    for variant in study.variants:
        match = re.fullmatch(r"(.+)\.n(\d+)", variant)
        if match:
            found.setdefault(match[1], {})[int(match[2])] = variant
    loss, variants = max(found.items(), key=lambda item: len(item[1]), default=("", {}))
    if len(variants) < 2:
        raise NotInRecords(
            "fewer than two exponents have records (variants named LOSS.n1, LOSS.n20, ...)"
        )
    paper = _published()
    reference = (
        USUAL if USUAL in variants else max(set(variants) & set(paper), default=max(variants))
    )
    ours = {name: _ours(study, variants, name, reference) for name in SCORES}
    return ExponentAblation(
        study=study.title,
        loss=loss,
        reference=reference,
        exponents=tuple(sorted(variants)),
        ours={name: band for name, band in ours.items() if band is not None},
        paper_exponents=tuple(sorted(paper)),
        paper={name: _shares(paper, name, reference) for name in SCORES if reference in paper},
    )


def _ours(
    study: StudyRecords, variants: Mapping[int, str], name: str, reference: int
) -> Band | None:
    """Return the values of each exponent over its runs, all divided by one mean."""
    bands = [
        band_of(study.of(variants[n]), lambda record: [score(record, name, "paper")])
        for n in sorted(variants)
    ]
    unit = band_of(study.of(variants[reference]), lambda record: [score(record, name, "paper")])
    if unit is None or not unit.mean[0] > 0:
        return None
    columns = [
        np.array([np.nan if band is None else getattr(band, part)[0] for band in bands])
        for part in ("mean", "low", "high")
    ]
    return Band(*(column / unit.mean[0] for column in columns))


def _published() -> dict[int, Mapping[str, float]]:
    """Return exponent -> score -> the paper's value."""
    (block,) = published_table(3).blocks.values()
    return {
        int(key.removeprefix("n")): {
            name: cell.value for name, cell in row.cells.items() if cell.value is not None
        }
        for key, row in block.rows.items()
    }


def _shares(table: Mapping[int, Mapping[str, float]], name: str, reference: int) -> Array:
    values = np.array([table[n][name] for n in sorted(table)])
    shares: Array = values / table[reference][name]
    return shares
