"""Markdown, read back by a Markdown parser."""

import html
import re

import markdown as python_markdown
import pytest
from hypothesis import example, given, settings
from markdown_it import MarkdownIt

from gradsurge.experiments.published import TABLES, published_table
from gradsurge.report.tables import as_published, to_markdown
from gradsurge.report.tables.markdown import escape
from tests.report.tables.examples import NASTY, TEXT, compared, with_texts

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def shown(inline):
    """Return the text of an inline token; what is no plain text is an error."""
    assert {child.type for child in inline.children or ()} <= {"text", "text_special"}, inline
    return "".join(child.content for child in inline.children or ())


def tables(markdown):
    """Return each table as rows of inline tokens."""
    found = []
    for token in PARSER.parse(markdown):
        if token.type == "table_open":
            found.append([])
        elif token.type == "tr_open":
            found[-1].append([])
        elif token.type == "inline" and token.level >= 4 and found:
            found[-1][-1].append(token)
    return found


def test_a_table_for_each_block_and_for_its_ratios():
    fives, ratios, chase = tables(to_markdown(compared()))
    heads = [shown(cell) for cell in fives[0]]
    assert heads == [
        "",
        "NLL ↓ ours",
        "NLL ↓ paper",
        "DSC (%) ↑ ours",
        "DSC (%) ↑ paper",
        "Logit ours",
    ]
    assert {len(row) for table in (fives, ratios, chase) for row in table} == {6}
    assert [len(table) for table in (fives, ratios, chase)] == [4, 2, 2]


def test_marks_stars_and_deviations():
    fives, _, _ = tables(to_markdown(compared()))
    contents = [[cell.content for cell in row] for row in fives[1:]]
    assert contents[2][1] == r"**0.0540**\* <small>±0.0010</small>"
    assert contents[0][1] == "<ins>0.0542</ins> <small>±0.0011</small>"
    assert contents[2][3] == "–"
    assert "<strong>0.0540</strong>* <small>±0.0010</small>" in PARSER.render(
        to_markdown(compared())
    )


@pytest.mark.parametrize("number", TABLES)
def test_published_tables_have_as_many_cells_in_every_row(number):
    published = published_table(number)
    found = tables(to_markdown(as_published(published)))
    blocks = [table for table in found if "/" not in shown(table[1][0])]
    assert [len(table) - 1 for table in blocks] == [len(b.rows) for b in published.blocks.values()]
    assert {len(row) for table in found for row in table} == {len(published.columns) + 1}


@settings(max_examples=150, deadline=None)
@given(TEXT)
@example(NASTY)
@example("- a list")
@example("1. a list")
@example("---")
@example("===")
@example("&copy; and \\| too")
def test_any_text_is_shown_as_it_is(text):
    tokens = PARSER.parse(escape(text))
    expected = " ".join(text.split())
    assert [token.type for token in tokens] == (
        ["paragraph_open", "inline", "paragraph_close"] if expected else []
    )
    assert "".join(shown(token) for token in tokens if token.type == "inline") == expected


@pytest.mark.parametrize(
    "text",
    ["p < 0.01", "p > 1/2", "~~n~~ $x$", "a_b [c] *d* `e` #1 | 2 & 3", "===", "a {: #d}", "a {.c}"],
)
def test_mkdocs_shows_the_text_as_it_is(text):
    shown_as = escape(text)
    for mark, tag in ((f"### {shown_as}", "h3"), (f"| x |\n| --- |\n| {shown_as} |", "td")):
        page = python_markdown.markdown(mark, extensions=["attr_list", "tables"])
        [content] = re.findall(f"<{tag}>(.*)</{tag}>", page)
        assert html.unescape(re.sub("<[^>]*>", "", content)) == text
    assert "<h1>" not in python_markdown.markdown(f"caption\n{shown_as}")


@settings(max_examples=60, deadline=None)
@given(TEXT)
@example(NASTY)
def test_any_text_stays_in_its_cell(text):
    table, ratios = tables(to_markdown(with_texts(text)))
    assert {len(row) for row in (*table, *ratios)} == {2}
    assert shown(table[1][0]) == " ".join(text.split())
