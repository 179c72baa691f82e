"""Our own table of the bias: what validation cases ask for against what the closed form takes."""

from collections.abc import Sequence
from statistics import fmean

from gradsurge.experiments.recipes import Recipe
from gradsurge.experiments.result_table import Column, ResultTable, TableBlock, TableRow
from gradsurge.experiments.study.record import Record
from gradsurge.experiments.study.tables.captions import told_table
from gradsurge.experiments.study.tables.table_rows import (
    Number,
    RowRecords,
    cell_of,
    group_of,
    rows_of,
)

COLUMNS = (
    Column("bias", "Fitted", None, 2),
    Column("equilibrium", "Closed form", None, 2),
    Column("rest", "Rest", None, 2),
    Column("temperature", "Temperature", None, 2),
)
_CAPTION = (
    "What is taken off the logit of the foreground where p = 1/2. Fitted: by a bias fitted on "
    "whole validation cases. Closed form: by the rates of the training alone; none without "
    "surgery. Rest: what the closed form leaves, which the loss does not explain: patches that "
    "hold more foreground than cases, or the gap between training and validation. Temperature: "
    "fitted as well; above 1 the model is too sure. Means over structures."
)


def bias_table(records: Sequence[Record], recipe: Recipe, table: str = "bias") -> ResultTable:
    """Return the table.

    Raises:
        ValueError: the recipe has no such table.
    """
    rows = rows_of(records, recipe, table)
    return told_table(
        recipe,
        rows,
        name=table,
        title="Bias of the logit, fitted and foreseen",
        columns=COLUMNS,
        blocks=[TableBlock(recipe.title, [_row(row) for row in rows])],
        words=[_CAPTION],
        cases="",  # it is of validation cases
    )


def _row(row: RowRecords) -> TableRow:
    cells = {column.name: cell_of(row.values(_number, column.name)) for column in COLUMNS}
    return TableRow(row.variant.name, row.variant.title, cells, group_of(row.variant))


def _number(record: Record, column: str) -> Number:
    # Records of before have none of these.
    told = {"temperature": record.validation.get("temperature")}
    told |= record.validation.get("shifts", {})
    if column != "rest":
        return fmean(found) if (found := told.get(column)) else None
    fitted, foreseen = told.get("bias"), told.get("equilibrium", [0.0])
    return fmean(fitted) - fmean(foreseen) if fitted and foreseen else None
