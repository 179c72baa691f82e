"""The layout: parts of columns, ratios, marks."""

from dataclasses import replace

import pytest

from gradsurge.report.tables import Cell, ResultTable, TableBlock, TableRow
from gradsurge.report.tables.grid import grid_of
from gradsurge.report.tables.legend import full_caption
from tests.report.tables.examples import DSC, NLL, compared


def section(table, title):
    (found,) = [section for section in grid_of(table).sections if section.title == title]
    return found


def test_a_column_has_a_part_for_the_paper_only_if_it_has_published_numbers():
    grid = grid_of(compared())
    parts = [(head.title, head.sources) for head in grid.heads]
    both = ("ours", "paper")
    assert parts == [("NLL ↓", both), ("DSC (%) ↑", both), ("Logit", ("ours",))]
    assert (grid.compares, grid.width) == (True, 5)


def test_without_published_numbers_there_are_no_parts():
    table = compared()
    alone = replace(table, blocks=[replace(block, published={}) for block in table.blocks])
    grid = grid_of(alone)
    assert not grid.compares
    assert grid.width == 3


def test_numbers_have_the_digits_of_their_column_and_missing_ones_are_dashes():
    lines = section(compared(), "FIVES").lines
    assert [cell.value for cell in lines[2].cells] == ["0.0540", "0.0540", "–", "87.60", "-2.0"]
    assert [cell.deviation for cell in lines[0].cells] == ["0.0011", "0.0011", "0.22", "0.22", ""]
    assert [cell.star for cell in lines[2].cells] == [True, True, False, False, False]


def test_marks_of_ours_and_of_the_paper_s_are_found_apart_among_the_rows_shown():
    lines = section(compared(), "FIVES").lines
    assert [[cell.place for cell in line.cells] for line in lines] == [
        [2, 2, None, None, None],
        [None, None, 1, 1, None],
        [1, 1, None, 2, None],
    ]


def test_a_rule_stands_where_another_group_begins():
    assert [line.apart for line in section(compared(), "FIVES").lines] == [False, True, False]


def test_ratios_are_of_rows_with_a_base_for_ours_and_for_the_paper():
    (line,) = section(compared(), "FIVES: ratio to the base").lines
    assert line.title == "Dice - Surgery / Dice"
    expected = [0.054 / 0.3, 0.054 / 0.3118, None, 87.6 / 88.03, None]
    assert [cell.value for cell in line.cells] == [
        "–" if value is None else f"{value:.3f}" for value in expected
    ]


def test_a_base_that_is_not_shown_still_gives_the_published_ratio():
    row = TableRow("dice-surgery", "Dice - Surgery", {"nll": Cell(0.1)}, base="dice")
    published = {"dice": {"nll": Cell(0.4)}, "dice-surgery": {"nll": Cell(0.1)}}
    table = ResultTable("t", "T", "", [NLL], [TableBlock("", [row], published)])
    (line,) = section(table, "Ratio to the base").lines
    assert (line.title, [cell.value for cell in line.cells]) == (
        "Dice - Surgery / dice",
        ["–", "0.250"],
    )


@pytest.mark.parametrize("base", [Cell(0.0), Cell(None)])
def test_no_ratio_to_nothing(base):
    rows = [
        TableRow("dice", "Dice", {"nll": base}),
        TableRow("dice-surgery", "Dice - Surgery", {"nll": Cell(0.1)}, base="dice"),
    ]
    grid = grid_of(ResultTable("t", "T", "", [NLL], [TableBlock("FIVES", rows)]))
    assert [section.title for section in grid.sections] == ["FIVES"]


def test_a_caption_explains_what_occurs_and_nothing_else():
    said = full_caption(compared(), grid_of(compared()))
    for word in ("Wilcoxon", "Bold", "±", "Paper", "Ratios", "no number"):
        assert word in said
    rows = [TableRow("a", "A", {"dsc": Cell(80.0)})]
    bare = ResultTable("t", "T", "Plain.", [DSC], [TableBlock("", rows)])
    assert full_caption(bare, grid_of(bare)) == "Plain."


def test_a_table_without_rows_has_a_layout():
    assert grid_of(ResultTable("t", "T", "", [NLL], [TableBlock("FIVES", [])])).width == 1
