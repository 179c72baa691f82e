"""A table in long form, a line a number: as CSV, and as rows for JSON."""

import csv
import io
from collections.abc import Iterator

from gradsurge.experiments.result_table import Column, ResultTable, TableBlock, TableRow
from gradsurge.report.tables.grid import Source, block_places, cells_of, sources_of
from gradsurge.report.tables.numbers import one_line, ratio
from gradsurge.report.tables.ranking import Place

FIELDS = (
    "table",
    "block",
    "row",
    "title",
    "group",
    "base",
    "column",
    "unit",
    "better",
    "source",
    "value",
    "deviation",
    "star",
    "place",
    "ratio",
)


def to_csv(table: ResultTable) -> str:
    """Return one line a number, with all its digits; missing numbers have no line.

    ``source`` is "ours" or "paper", ``place`` 1 for the best and 2 for the second best of its
    block and column, and ``ratio`` the value over that of the row's base. With pandas
    ``read_csv(file).pivot(index=["block", "row"], columns=["column", "source"], values="value")``
    is the wide table.
    """
    text = io.StringIO()
    writer = csv.DictWriter(text, FIELDS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(tidy_rows(table))
    return text.getvalue()


def tidy_rows(table: ResultTable) -> Iterator[dict[str, object]]:
    """Yield every number with its `FIELDS`, as the lines of the CSV have them."""
    for block in table.blocks:
        for column in table.columns:
            for source in sources_of(table, column):
                won = block_places(block, column, source)
                for record in _records(block, column, source, won):
                    yield {
                        name: one_line(entry) if isinstance(entry, str) else entry
                        for name, entry in {"table": table.name, **record}.items()
                    }


def _records(
    block: TableBlock, column: Column, source: Source, won: dict[str, Place]
) -> Iterator[dict[str, object]]:
    for row in block.rows:
        cell = cells_of(block, row.key, source).get(column.name)
        if cell is None or cell.value is None:
            continue
        base = cells_of(block, row.base, source).get(column.name)
        yield {
            **_names(block, row, column),
            "source": source,
            "value": cell.value,
            "deviation": cell.deviation,
            "star": cell.star,
            "place": won.get(row.key),
            "ratio": ratio(cell, base),
        }


def _names(block: TableBlock, row: TableRow, column: Column) -> dict[str, object]:
    return {
        "block": block.title,
        "row": row.key,
        "title": row.title,
        "group": row.group,
        "base": row.base,
        "column": column.name,
        "unit": column.unit,
        "better": block.better_in(column),
    }
