"""Writing all formats, the published tables, and plain text."""

from dataclasses import replace

import pytest

from gradsurge.experiments.published import TABLES, published_table
from gradsurge.report.tables import (
    Cell,
    TableBlock,
    TableRow,
    as_published,
    to_csv,
    to_html,
    to_latex,
    to_markdown,
    to_text,
    write_table,
)
from tests.report.tables.examples import compared


def test_every_format_is_a_file(tmp_path):
    table = compared()
    made = write_table(table, tmp_path / "tables" / "new")
    assert [file.name for file in made] == ["table1.md", "table1.tex", "table1.csv", "table1.html"]
    assert sorted(made) == sorted((tmp_path / "tables" / "new").iterdir())
    texts = [file.read_text("utf-8") for file in made]
    assert texts == [write(table) for write in (to_markdown, to_latex, to_csv, to_html)]


@pytest.mark.parametrize("name", ["", "../table", "a/b", ".hidden", "a b", "table\n"])
def test_names_that_are_no_file_s_are_refused(tmp_path, name):
    with pytest.raises(ValueError, match="table name: expected letters, digits"):
        write_table(replace(compared(), name=name), tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_names_that_are_not_utf_8_are_written(tmp_path):
    table = replace(compared(), provenance={"command": "gradsurge \udcff"})
    for file in write_table(table, tmp_path):
        assert file.read_text("utf-8")


@pytest.mark.parametrize("number", TABLES)
def test_published_tables_need_no_run(number):
    published = published_table(number)
    table = as_published(published)
    assert [block.title for block in table.blocks] == [b.title for b in published.blocks.values()]
    assert list(table.notes) == [note.text for note in published.notes]
    assert f"Table {number}" in table.provenance["source"]
    text = to_text(table)
    assert max(map(len, text.splitlines()[2:6])) <= 120
    for row in table.blocks[0].rows:
        assert any(line.startswith(row.title) for line in text.splitlines())


def test_some_blocks_of_a_published_table():
    table = as_published(published_table(1), ["fives"])
    assert [block.title for block in table.blocks] == ["FIVES"]
    assert any("ECE of Dice surgery on FIVES" in note for note in table.notes)
    assert not any("Tables 4 and 8 repeat" in note for note in table.notes)
    with pytest.raises(ValueError, match=r"published table 1: expected blocks of inbreast, fives"):
        as_published(published_table(1), ["kits"])


def test_plain_text_is_aligned():
    lines = to_text(compared()).splitlines()
    start = next(k for k, line in enumerate(lines) if "NLL" in line)
    assert [line for line in lines[start:] if line][:5] == [
        "                       NLL ↓    paper   DSC (%) ↑   paper   Logit",
        "FIVES",
        "CE                    0.0542²  0.0542²      87.54   87.54       –",
        "Dice                  0.3000   0.3118       88.00¹  88.03¹      –",
        "Dice - Surgery        0.0540¹* 0.0540¹*         –   87.60²   -2.0",
    ]
    assert "commit: 8d987d8 · command: gradsurge reproduce fives --table 1" in lines[-1]


@pytest.mark.parametrize("rows", [[], [TableRow("dice", "Dice", {})]])
def test_tables_before_the_first_run_are_written(tmp_path, rows):
    """Nothing of ours yet: every format holds the published numbers, or no line at all."""
    published = {"dice": {"nll": Cell(0.3118)}}
    table = replace(compared(), blocks=[TableBlock("FIVES", rows, published)])
    for file in write_table(table, tmp_path):
        assert ("0.3118" in file.read_text("utf-8")) == bool(rows)
    assert ("0.3118" in to_text(table)) == bool(rows)


def test_stars_of_the_paper_are_told_apart():
    told = "Stars in the paper's columns: as printed; the paper does not name its test."
    assert all(told in write(compared()) for write in (to_markdown, to_text))
    first = compared().blocks[0]
    plain = {row: {"nll": Cell(0.3)} for row in first.published}
    without = replace(compared(), blocks=[replace(first, published=plain)])
    assert not any(told in write(without) for write in (to_markdown, to_text))
