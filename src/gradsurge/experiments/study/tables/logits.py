"""Table 8: how large the raw logits are."""

from collections.abc import Sequence

from gradsurge.experiments.published import published_table
from gradsurge.experiments.recipes import Recipe
from gradsurge.experiments.result_table import Column, ResultTable, TableBlock, TableRow
from gradsurge.experiments.study.record import Record
from gradsurge.experiments.study.tables.captions import told_table
from gradsurge.experiments.study.tables.profile_scores import DICE, DSC, score
from gradsurge.experiments.study.tables.results import published_cells, published_notes
from gradsurge.experiments.study.tables.table_rows import (
    Number,
    RowRecords,
    base_of,
    cell_of,
    group_of,
    rows_of,
)

# Column -> class of the label's voxels and channel; -1 is the last, the foreground of two.
_PLACES = {
    "fg_logit_in_fg": (-1, -1),
    "bg_logit_in_fg": (-1, 0),
    "fg_logit_in_bg": (0, -1),
    "bg_logit_in_bg": (0, 0),
}
_TITLES = ("FG logit in FG", "BG logit in FG", "FG logit in BG", "BG logit in BG")
COLUMNS = (
    *(Column(name, title, None, 2) for name, title in zip(_PLACES, _TITLES, strict=True)),
    DICE[0],
)
_CAPTION = (
    "Mean raw logit of the foreground (FG) and background (BG) channel in the label's foreground "
    "and background, on the voxels of the network. A network with one output has a background "
    "logit of 0; of several classes, FG is the last."
)


def logits_table(records: Sequence[Record], recipe: Recipe, table: str = "8") -> ResultTable:
    """Return Table 8.

    Raises:
        ValueError: the recipe has no such table.
    """
    rows = rows_of(records, recipe, table)
    lines = [_row(row, rows) for row in rows]
    return told_table(
        recipe,
        rows,
        name=f"table{table}",
        title=published_table(8).title,
        columns=COLUMNS,
        blocks=[TableBlock(recipe.title, lines, published_cells(recipe, table))],
        words=[_CAPTION],
        notes=published_notes(recipe, table),
    )


def _row(row: RowRecords, rows: Sequence[RowRecords]) -> TableRow:
    cells = {name: cell_of(row.values(_mean_logit, name)) for name in _PLACES}
    cells[DSC] = cell_of(row.values(score, DSC, "paper"), scale=100.0)
    base = base_of(row, rows)
    key = None if base is None else base.variant.name
    return TableRow(row.variant.name, row.variant.title, cells, group_of(row.variant), key)


def _mean_logit(record: Record, column: str) -> Number:
    tables = list(record.measured.logits.values())
    if not tables:
        return None
    label, channel = _PLACES[column]
    found: Number = tables[-1]["means"][label][channel]
    return found
