"""Tables 1, 2, 3, 4, 5 and 7: scores of each loss beside the published ones."""

from collections import Counter
from collections.abc import Mapping, Sequence

from gradsurge.experiments.published import published_table
from gradsurge.experiments.recipes import Recipe
from gradsurge.experiments.result_table import Cell, ResultTable, TableBlock
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
    RowRecords,
    base_of,
    rows_of,
)

ABLATION = "3"
_ACTIVE = ("4", "5")
_ABOUT_ACTIVE = "Active region: the union of label and hard prediction, which depends on the model."


def results_table(records: Sequence[Record], recipe: Recipe, table: str) -> ResultTable:
    """Return the table of a number, raw probabilities, in the recipe's profile.

    Raises:
        ValueError: the recipe has no such table.
    """
    rows = rows_of(records, recipe, table)
    active = table in _ACTIVE
    view = View(recipe.evaluation.profile, "active" if active else "all")
    columns, tests = (*CALIBRATION, *DICE), list[PairedTest]()
    lines = [table_row(line, columns, view, tests) for line in _lines(rows, table)]
    block = TableBlock(recipe.title, lines, published_cells(recipe, table))
    rater = rater_blocks(records, columns, view)
    return told_table(
        recipe,
        rows,
        name=f"table{table}",
        title=published_table(int(table)).title,
        columns=columns,
        blocks=[block, *rater],
        words=[_ABOUT_ACTIVE if active else "", ABOUT[view.profile], ABOUT_DICE],
        last_words=[about_tests(tests, view), ABOUT_RATER if rater else ""],
        notes=published_notes(recipe, table),
    )


def published_cells(recipe: Recipe, table: str) -> Mapping[str, Mapping[str, Cell]]:
    """Return the paper's cells of a recipe's block; nothing if it has none.

    Raises:
        ValueError: the recipe names a block that the published table has not.
    """
    name = recipe.tables[table].published
    if name is None:
        return {}
    blocks = published_table(int(table)).blocks
    if name not in blocks:
        raise ValueError(
            f"{recipe.file}: tables.{table}.published: expected one of {', '.join(blocks)}, "
            f"got {name!r}"
        )
    return blocks[name].cells


def published_notes(recipe: Recipe, table: str) -> list[str]:
    """Return which of the numbers beside ours the paper prints differently in another table."""
    name = recipe.tables[table].published
    notes = [] if name is None else published_table(int(table)).notes
    return [
        f"The paper: {note.text}"
        for note in notes
        if note.kind == "value" and any(block == name for block, _, _ in note.cells)
    ]


def _lines(rows: Sequence[RowRecords], table: str) -> list[Line]:
    keys = _keys(rows, table)
    plain = {
        row.variant.name: Line(key, row.variant.title, row)
        for row, key in zip(rows, keys, strict=True)
    }
    found = []
    for row in rows:
        base = base_of(row, rows) if table != ABLATION else None
        line = plain[row.variant.name]
        found.append(
            line if base is None else Line(line.key, line.title, row, base=plain[base.variant.name])
        )
    return found


def _keys(rows: Sequence[RowRecords], table: str) -> list[str]:
    """Return the keys of the published rows: names of variants; of the ablation "n20" alone.

    The paper's ablation is of one loss: where several have the same exponent, none is its row.
    """
    names = [row.variant.name for row in rows]
    if table != ABLATION:
        return names
    short = [name.partition(".")[2] or name for name in names]
    number = Counter(short)
    return [key if number[key] == 1 else name for name, key in zip(names, short, strict=True)]
