"""Our own table of single cases: does a result hang on one of them, and how many agree with it?"""

import math
from collections.abc import Mapping, Sequence

from gradsurge.experiments.recipes import Recipe
from gradsurge.experiments.result_table import Cell, Column, ResultTable, TableBlock, TableRow
from gradsurge.experiments.runs.corrections import CORRECTIONS, NONE
from gradsurge.experiments.study.record import Record
from gradsurge.experiments.study.tables.captions import told_table
from gradsurge.experiments.study.tables.corrections import correction_lines
from gradsurge.experiments.study.tables.heaviest_case import HeaviestCase, heaviest_case
from gradsurge.experiments.study.tables.lines import Line, View, run_values
from gradsurge.experiments.study.tables.profile_scores import CALIBRATION, DSC
from gradsurge.experiments.study.tables.significance import case_means
from gradsurge.experiments.study.tables.table_rows import cell_of, group_of, rows_of

COLUMNS = (*CALIBRATION, Column(DSC, "DSC", "higher", 4))
REFERENCE = "ce"
_THAN_BASE = "Share of cases in which it is better than the base (more is better)"
_THAN_REFERENCE = "Share of cases in which it is better than cross-entropy (more is better)"
_VIEW = View("foreground")
_ABOUT = (
    "Scores of each case's foreground probability in 15 bins, averaged over cases: a large case "
    "counts no more than a small one, and errors of cases do not cancel as they do in pooled "
    "scores. DSC: of p > 1/2, or of the likeliest class, raw. Shares: of the cases whose score, "
    "averaged over runs, is better than that of the base (after the same correction; where the "
    "base has none of that name, as it is), or of cross-entropy as it is."
)


def cases_table(records: Sequence[Record], recipe: Recipe, table: str = "cases") -> ResultTable:
    """Return means over cases, the same without the heaviest case, and shares of better cases.

    Raises:
        ValueError: the recipe has no such table.
    """
    rows = rows_of(records, recipe, table)
    lines = correction_lines(rows, CORRECTIONS)
    heaviest = heaviest_case(rows)
    blocks = [_means(f"{recipe.title}: means over cases", lines)]
    if heaviest is not None:
        blocks.append(_means(f"{recipe.title}: without {heaviest.case}", lines, heaviest.case))
    bases = {line.key: line.base for line in lines if line.base is not None}
    blocks += _shares(_THAN_BASE, lines, bases)
    reference = next((line for line in lines if line.key == REFERENCE), None)
    if reference is not None:
        others = {line.key: reference for line in lines if line.row is not reference.row}
        blocks += _shares(_THAN_REFERENCE, lines, others)
    return told_table(
        recipe,
        rows,
        name=table,
        title="Case by case",
        columns=COLUMNS,
        blocks=blocks,
        words=[_ABOUT, _about(heaviest)],
    )


def _about(heaviest: HeaviestCase | None) -> str:
    if heaviest is None:
        return ""
    return (
        f"{heaviest.case} holds more of the NLL than any other case on average over the losses: "
        f"{heaviest.least:.0%} to {heaviest.most:.0%} of that of each loss as it is."
    )


def _means(title: str, lines: Sequence[Line], without: str | None = None) -> TableBlock:
    cells = ({c.name: _mean_cell(line, c, without) for c in _columns_of(line)} for line in lines)
    return TableBlock(title, [line.row_of(one) for line, one in zip(lines, cells, strict=True)])


def _mean_cell(line: Line, column: Column, without: str | None) -> Cell:
    means = []
    for run in run_values(line, column.name, _VIEW):
        kept = [value for case, value in run.cases.items() if case != without]
        if kept:
            means.append(math.fsum(kept) / len(kept))
    return cell_of(means)


def _shares(title: str, lines: Sequence[Line], against: Mapping[str, Line]) -> list[TableBlock]:
    """Return a block of the lines that share cases with another; nothing if no line does."""
    rows = []
    for line in (line for line in lines if line.key in against):
        shares = {c.name: _share(line, against[line.key], c) for c in _columns_of(line)}
        cells = {name: Cell(share) for name, share in shares.items() if share is not None}
        if cells:
            rows.append(TableRow(line.key, line.title, cells, group_of(line.row.variant)))
    return [TableBlock(title, rows, better="higher")] if rows else []


def _share(line: Line, other: Line, column: Column) -> float | None:
    """Return the share of cases in which a line is better; None if they share no case."""
    mine, its = (case_means(run_values(one, column.name, _VIEW)) for one in (line, other))
    gaps = [mine[case] - its[case] for case in mine if case in its]
    better = [gap < 0 if column.better == "lower" else gap > 0 for gap in gaps]
    return sum(better) / len(better) if better else None


def _columns_of(line: Line) -> Sequence[Column]:
    """Return the columns of a line; masks are made of raw probabilities."""
    return COLUMNS if line.correction == NONE else CALIBRATION
