"""Tables refuse what could only be printed wrongly."""

import math

import pytest

from gradsurge.experiments.result_table import Cell, Column, ResultTable, TableBlock, TableRow

NLL = Column("nll", "NLL", "lower", 4)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_numbers_are_finite_or_none(number):
    with pytest.raises(ValueError, match=r"finite value, got .*; pass None for a missing one"):
        Cell(number)
    with pytest.raises(ValueError, match="finite deviation"):
        Cell(0.5, number)
    assert Cell(None).deviation is None


def test_a_block_has_one_row_a_key():
    rows = [TableRow("dice", title, {}) for title in ("Dice", "Dice again")]
    with pytest.raises(ValueError, match=r"block 'FIVES': expected one row a key, .* 'dice'"):
        TableBlock("FIVES", rows)


def test_a_table_has_one_column_a_name():
    with pytest.raises(ValueError, match=r"table 't': expected one column a name"):
        ResultTable("t", "T", "", [NLL, NLL], [])


def test_cells_belong_to_columns():
    block = TableBlock("FIVES", [TableRow("dice", "Dice", {"nII": Cell(0.1)})])
    with pytest.raises(ValueError, match=r"row 'dice': expected cells of the columns nll, got 'nI"):
        ResultTable("t", "T", "", [NLL], [block])
