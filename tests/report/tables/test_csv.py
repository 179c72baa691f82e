"""CSV, read back by the csv module."""

import csv
import io

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gradsurge.experiments.published import published_table
from gradsurge.report.tables import Cell, ResultTable, TableBlock, TableRow, as_published, to_csv
from tests.report.tables.examples import NASTY, NLL, TEXT, compared, with_texts


def read(text):
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_one_line_a_number():
    lines = read(to_csv(compared()))
    assert len(lines) == 8 + 6  # ours and the paper's, of rows that are shown
    (line,) = [
        line
        for line in lines
        if (line["row"], line["column"], line["source"]) == ("dice-surgery", "nll", "paper")
    ]
    assert float(line.pop("ratio")) == 0.054 / 0.3118
    assert line == {
        "table": "table1",
        "block": "FIVES",
        "row": "dice-surgery",
        "title": "Dice - Surgery",
        "group": "dice",
        "base": "dice",
        "column": "nll",
        "unit": "",
        "better": "lower",
        "source": "paper",
        "value": "0.054",
        "deviation": "0.0013",
        "star": "True",
        "place": "1",
    }


def test_every_published_number_is_there():
    table = published_table(1)
    lines = read(to_csv(as_published(table)))
    expected = {
        (block.title, key, column): (cell.value, cell.deviation, str(cell.star))
        for block in table.blocks.values()
        for key, row in block.rows.items()
        for column, cell in row.cells.items()
    }
    assert {
        (line["block"], line["row"], line["column"]): (
            float(line["value"]),
            float(line["deviation"]),
            line["star"],
        )
        for line in lines
    } == expected
    assert {line["source"] for line in lines} == {"ours"}


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(0, 1e6))
def test_numbers_keep_all_their_digits(value, deviation):
    rows = [TableRow("a", "A", {"nll": Cell(value, deviation)})]
    (line,) = read(to_csv(ResultTable("t", "T", "", [NLL], [TableBlock("", rows)])))
    assert (float(line["value"]), float(line["deviation"])) == (value, deviation)


@settings(max_examples=100)
@given(TEXT)
@example(NASTY)
@example('quoted "text", with\r\nlines')
def test_any_text_comes_back(text):
    lines = read(to_csv(with_texts(text)))
    expected = " ".join(text.split())
    assert [(line["title"], line["block"]) for line in lines] == [
        (expected, expected),
        ("other", expected),
    ]


def test_pandas_makes_a_wide_table_of_it():
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(io.StringIO(to_csv(compared())))
    wide = frame.pivot(index=["block", "row"], columns=["column", "source"], values="value")
    assert wide.loc[("FIVES", "dice"), ("nll", "paper")] == 0.3118
    assert pandas.isna(wide.loc[("FIVES", "dice-surgery"), ("dsc", "ours")])
    assert wide.loc[("CHASE", "dice"), ("dsc", "ours")] == 65.3
