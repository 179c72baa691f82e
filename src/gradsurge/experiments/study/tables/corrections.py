"""Our own tables of corrections: every loss as it is, and after each correction that it has."""

from collections.abc import Sequence

from gradsurge.experiments.recipes import Recipe
from gradsurge.experiments.result_table import Cell, Column, ResultTable, TableBlock, TableRow
from gradsurge.experiments.runs.corrections import CORRECTIONS, FITTED, NONE
from gradsurge.experiments.study.posterior_tally import POSTERIOR
from gradsurge.experiments.study.record import Record
from gradsurge.experiments.study.tables.captions import told_table
from gradsurge.experiments.study.tables.lines import Line, View, about_tests, table_row
from gradsurge.experiments.study.tables.profile_scores import (
    ABOUT,
    ABOUT_DICE,
    CALIBRATION,
    DICE,
)
from gradsurge.experiments.study.tables.rater_row import ABOUT_RATER, rater_blocks
from gradsurge.experiments.study.tables.significance import PairedTest
from gradsurge.experiments.study.tables.table_rows import (
    Number,
    RowRecords,
    base_of,
    cell_of,
    rows_of,
)

TITLES = {
    "corrections": "Raw and corrected probabilities",
    "budget": "Fewer and more steps",
    "schedule": "When surgery sets in",
    "statistics": "Soft and hard global statistics",
    "optimiser": "SGD against AdamW",
}
_OF_TABLE = {"corrections": CORRECTIONS, "budget": (NONE, "equilibrium", "temperature")}
_CHOSEN = (NONE, "equilibrium")
_DISTANCES = (
    Column("rms", "RMS to posterior", "lower", 4),
    Column("kl", "KL to posterior", "lower", 5),
)
_EQUILIBRIUM = "Equilibrium: the closed form of the training's own rates, nothing fitted."
_ABOUT = (
    "Masks are made of raw probabilities, so DSC is that of the uncorrected line. Surgery is "
    "compared with its base after the same correction; where the base has none of that name, with "
    "the base as it is."
)


def corrections_table(records: Sequence[Record], recipe: Recipe, table: str) -> ResultTable:
    """Return a table with a line for each variant and correction.

    Raises:
        ValueError: the recipe has no such table.
    """
    rows = rows_of(records, recipe, table)
    view = View("foreground")
    scores, tests = (*CALIBRATION, *DICE), list[PairedTest]()
    known = any(record.measured.posterior for row in rows for record in row.records)
    columns = (*scores, *_DISTANCES) if known else scores
    lines = correction_lines(rows, _OF_TABLE.get(table, _CHOSEN))
    shown = [_with_distances(table_row(line, scores, view, tests), line, known) for line in lines]
    rater = rater_blocks(records, scores, view)
    return told_table(
        recipe,
        rows,
        name=table,
        title=TITLES[table],
        columns=columns,
        blocks=[TableBlock(recipe.title, shown), *_truth(rows, scores), *rater],
        words=[ABOUT[view.profile], ABOUT_DICE, _EQUILIBRIUM, _about_fitted(lines), _ABOUT],
        last_words=[about_tests(tests, view), ABOUT_RATER if rater else ""],
    )


def _about_fitted(lines: Sequence[Line]) -> str:
    shown = {line.correction for line in lines}
    fitted = [name for name in FITTED if name in shown]
    return f"{' and '.join(fitted).capitalize()}: fitted on validation cases." if fitted else ""


def correction_lines(rows: Sequence[RowRecords], corrections: Sequence[str]) -> list[Line]:
    """Return a line for each variant and each of the corrections that it has.

    A surgery is compared with its base after the same correction; where the base has none of that
    name, with the base as it is.
    """
    lines: dict[tuple[str, str], Line] = {}
    for row in sorted(rows, key=lambda r: base_of(r, rows) is not None):  # bases first
        base = base_of(row, rows)
        for correction in corrections if row.records else (NONE,):
            if row.records and correction not in row.corrections:
                continue
            lines[row.variant.name, correction] = Line(
                key=line_key(row.variant.name, correction),
                title=row.variant.title + ("" if correction == NONE else f", {correction}"),
                row=row,
                correction=correction,
                base=None
                if base is None
                else lines.get((base.variant.name, correction))
                or lines.get((base.variant.name, NONE)),
            )
    order = [(row.variant.name, correction) for row in rows for correction in corrections]
    return [lines[key] for key in order if key in lines]


def line_key(variant: str, correction: str) -> str:
    """Return the key of a line.

    >>> line_key("dice", "none"), line_key("dice", "temperature")
    ('dice', 'dice, temperature')
    """
    return variant if correction == NONE else f"{variant}, {correction}"


def _with_distances(row: TableRow, line: Line, known: bool) -> TableRow:
    if not known:
        return row
    cells = {
        column.name: cell_of(line.row.values(_distance, line.correction, column.name))
        for column in _DISTANCES
    }
    return TableRow(row.key, row.title, {**row.cells, **cells}, row.group, row.base)


def _distance(record: Record, correction: str, name: str) -> Number:
    return record.measured.posterior.get(correction, {}).get(name)


def _truth(rows: Sequence[RowRecords], columns: Sequence[Column]) -> list[TableBlock]:
    """Return a block of the true posterior itself, where it is known: it takes no part."""
    for record in (record for row in rows for record in row.records):
        scores = record.measured.posterior.get(POSTERIOR)
        if scores:
            cells = {
                c.name: Cell(scores[c.name]) for c in columns if scores.get(c.name) is not None
            }
            return [TableBlock("", [TableRow(POSTERIOR, "True posterior", cells)])]
    return []
