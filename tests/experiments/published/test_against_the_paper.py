"""Every number, mark, title and rule against the paper's own source."""

from itertools import pairwise

import pytest

from gradsurge.experiments.published import TABLES, published_table
from tests.experiments.published.latex_cells import Read, read_cell
from tests.experiments.published.paper import lesion_rows, rows_of

LOSSES = {
    "Cross Entropy": "ce",
    "CE": "ce",
    "NACL": "nacl",
    "NACL + Dice": "nacl+dice",
    "SVLS": "svls",
    "SVLS + Dice": "svls+dice",
    "Dice++": "dice++",
    "Dice + m1L1-ACE": "ace+dice",
    "ACE": "ace+dice",
    "Dice + CE": "ce+dice",
    "CE + Dice": "ce+dice",
    "Dice": "dice",
    "Tversky": "tversky",
}
FEWER_DIGITS = {
    ("very-large", "dice++", "detection"),
    ("very-large", "tversky", "detection"),
    ("very-large", "dice++", "ece"),
}


def key_of(title):
    if title.isdigit():
        return f"n{title}"
    for ending in (" - Surgery", " Surgery"):
        if title.endswith(ending):
            return LOSSES[title.removesuffix(ending)] + "-surgery"
    return LOSSES[title]


def assert_same(cell, read, column, where):
    assert cell.value == float(read.value), where
    assert cell.deviation == (None if read.deviation is None else float(read.deviation)), where
    assert cell.star == read.star, where
    assert set(cell.marks) == read.marks, where
    assert len(cell.marks) == len(set(cell.marks))
    digits = column.digits - (where in FEWER_DIGITS)
    for text in filter(None, (read.value, read.deviation)):
        assert len(text.partition(".")[2]) == digits, where


@pytest.mark.parametrize("number", [n for n in TABLES if n != 6])
def test_every_cell_is_as_printed(number):
    table, printed = published_table(number), rows_of(number)
    ours = [(block.name, row) for block in table.blocks.values() for row in block.rows.values()]
    assert len(ours) == len(printed)
    for (block, row), paper in zip(ours, printed, strict=True):
        assert row.key == key_of(paper.title)
        assert row.title.removeprefix("n = ") == paper.title
        assert list(row.cells) == [column.name for column in table.columns]
        for column, read in zip(table.columns, paper.cells, strict=True):
            assert_same(row.cells[column.name], read, column, (block, row.key, column.name))


@pytest.mark.parametrize("number", [n for n in TABLES if n not in (3, 6)])
def test_blocks_and_groups_are_as_printed(number):
    table, printed = published_table(number), rows_of(number)
    headings = [row.heading for row in printed if row.heading]
    if number != 7:  # which has none
        assert [block.title for block in table.blocks.values()] == headings
    ours = [(block.name, row) for block in table.blocks.values() for row in block.rows.values()]
    for (before, after), paper in zip(pairwise(ours), printed[1:], strict=True):
        if before[0] != after[0]:
            assert paper.heading
        elif number != 7:
            assert not paper.heading
            assert (before[1].group != after[1].group) == paper.rule, after[1].title


def test_lesion_sizes_are_as_printed():
    losses, printed = lesion_rows()
    table = published_table(6)
    detection, ece = table.columns
    assert [block.title for block in table.blocks.values()] == list(printed)
    for block in table.blocks.values():
        assert [row.title for row in block.rows.values()] == losses
        for k, (key, row) in enumerate(block.rows.items()):
            assert key == key_of(losses[k])
            for column, metric in ((detection, "Det."), (ece, "ECE")):
                read = printed[block.title][metric][k]
                assert_same(row.cells[column.name], read, column, (block.name, key, column.name))


def test_the_reader_of_cells_knows_nested_marks():
    cell = r"\underline{$\mathit{0.1568}$ {\tiny $\pm 0.0092$}}"
    assert read_cell(cell) == Read("0.1568", "0.0092", False, frozenset({"underline", "italic"}))
    assert read_cell(r"$\mathbf{-0.5^{*}}$") == Read("-0.5", None, True, frozenset({"bold"}))
    assert read_cell("--") is None
