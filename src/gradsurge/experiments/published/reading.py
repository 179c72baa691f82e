"""From the packaged files to tables."""

import json
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from gradsurge.experiments.published.tables import (
    PublishedBlock,
    PublishedCell,
    PublishedNote,
    PublishedRow,
    PublishedTable,
)
from gradsurge.experiments.result_table import Column

TABLES = (1, 2, 3, 4, 5, 6, 7, 8)


@cache
def published_table(number: int) -> PublishedTable:
    """Return a table of the paper.

    Args:
        number: 1 to 8.

    Raises:
        ValueError: the paper has no such table.

    >>> cell = published_table(1).blocks["inbreast"].rows["ce+dice-surgery"].cells["nll"]
    >>> cell.value, cell.deviation, cell.star, cell.mark
    (0.0153, 0.0013, False, 'bold')
    """
    if number not in TABLES:
        raise ValueError(f"published table: expected a number from 1 to 8, got {number!r}")
    file = files("gradsurge.experiments.published").joinpath("data", f"table{number}.json")
    stored = json.loads(file.read_text("utf-8"))
    return PublishedTable(
        number=number,
        title=stored["title"],
        caption=stored["caption"],
        columns=tuple(Column(**column) for column in stored["columns"]),
        # The cache hands the same table to everybody: nobody may change it.
        blocks=MappingProxyType({name: _block(name, b) for name, b in stored["blocks"].items()}),
        notes=tuple(_note(note) for note in stored["notes"]),
    )


def _block(name: str, stored: dict[str, Any]) -> PublishedBlock:
    rows = {key: _row(key, row) for key, row in stored["rows"].items()}
    return PublishedBlock(name, stored["title"], MappingProxyType(rows))


def _row(key: str, stored: dict[str, Any]) -> PublishedRow:
    cells = {column: _cell(cell) for column, cell in stored["cells"].items()}
    return PublishedRow(
        key, stored["title"], stored["group"], stored.get("base"), MappingProxyType(cells)
    )


def _cell(stored: dict[str, Any]) -> PublishedCell:
    return PublishedCell(
        value=stored["value"],
        deviation=stored.get("deviation"),
        star=stored.get("star", False),
        marks=tuple(stored.get("marks", ())),
    )


def _note(stored: dict[str, Any]) -> PublishedNote:
    cells = tuple((block, row, column) for block, row, column in stored.get("cells", ()))
    return PublishedNote(stored["kind"], stored["text"], cells)
