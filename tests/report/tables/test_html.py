"""HTML, read back by the standard library's parser."""

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest
from hypothesis import example, given, settings

from gradsurge.experiments.published import TABLES, published_table
from gradsurge.report.tables import as_published, to_html, to_html_fragment
from tests.report.tables.examples import NASTY, TEXT, compared, with_texts

_VOID = {"meta", "br", "hr"}


class Reader(HTMLParser):
    """Rows of cells: (tag, attributes, text); and the text of headings, captions and notes."""

    def __init__(self, page):
        super().__init__()
        self.rows, self.texts, self.tags, self.attributes = [], {}, [], []
        self._open = []
        self.feed(page)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        if tag in _VOID:
            return
        self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append([tag, dict(attrs), "", set()])
        elif tag in ("h2", "p", "li", "title"):
            self.texts.setdefault(tag, []).append("")
        elif self._open[-2:-1] in (["td"], ["th"]):
            self.rows[-1][-1][3].add(tag)

    def handle_endtag(self, tag):
        assert self._open.pop() == tag

    def handle_data(self, data):
        inside = set(self._open)
        if inside & {"td", "th"}:
            self.rows[-1][-1][2] += data
        for tag in inside & {"h2", "p", "li", "title"}:
            self.texts[tag][-1] += data


def width(row):
    return sum(int(cell[1].get("colspan", 1)) for cell in row)


def test_head_and_cells():
    rows = Reader(to_html(compared())).rows
    assert [cell[2] for cell in rows[0]] == ["", "NLL ↓", "DSC (%) ↑", "Logit"]
    assert [cell[2] for cell in rows[1]] == ["ours", "paper", "ours", "paper", "ours"]
    assert rows[0][0][1]["rowspan"] == "2"
    assert [width(row) for row in rows] == [6, 5, *[6] * (len(rows) - 2)]
    surgery = next(row for row in rows if row[0][2] == "Dice - Surgery")
    assert [cell[2] for cell in surgery] == [
        "Dice - Surgery",
        "0.0540*±0.0010",
        "0.0540*±0.0013",
        "–",
        "87.60±0.12",
        "−2.0",
    ]
    assert [cell[3] for cell in surgery[1:]] == [
        {"strong", "sup", "small"},
        {"strong", "sup", "small"},
        set(),
        {"u", "small"},
        set(),
    ]


@pytest.mark.parametrize("number", TABLES)
def test_every_published_number_is_on_the_page(number):
    table = published_table(number)
    rows = iter(Reader(to_html(as_published(table))).rows[1:])
    for block in table.blocks.values():
        assert next(rows)[0][2] == block.title
        for row in block.rows.values():
            title, *cells = next(rows)
            assert title[2] == row.title
            for cell, column in zip(cells, table.columns, strict=True):
                expected = row.cells[column.name]
                value, *deviation = cell[2].replace("−", "-").replace("*", "").split("±")
                assert float(value) == expected.value
                assert (deviation == []) == (expected.deviation is None)
                assert ("*" in cell[2]) == expected.star
        if any(row.base for row in block.rows.values()):
            for _ in range(1 + sum(row.base is not None for row in block.rows.values())):
                next(rows)
    assert next(rows, None) is None


def test_the_page_asks_for_nothing_and_its_policy_lets_its_style_through():
    page = to_html(compared())
    style = re.search(r"<style>(.*?)</style>", page, re.S)[1]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    attributes = Reader(page).attributes
    (policy,) = [v for k, v in attributes if k == "content" and "default-src" in v]
    assert "default-src 'none'" in policy
    assert f"sha256-{digest}" in policy
    assert not {"src", "href", "style"} & {name for name, _ in attributes}
    assert "url(" not in style
    assert "position: sticky" in style


def test_a_fragment_styles_itself_alone():
    fragment = to_html_fragment(compared())
    reader = Reader(fragment)
    assert not {"html", "head", "body", "meta"} & set(reader.tags)
    style = re.search(r"<style>(.*?)</style>", fragment, re.S)[1]
    style = re.sub(r"/\*.*?\*/|@media print \{|\}\s*\}\s*$", "}", style)
    selectors = [one for rule in re.findall(r"([^{}]+)\{", style) for one in rule.split(",")]
    assert len(selectors) > 20
    assert all(one.strip().startswith(".result-table") for one in selectors)
    assert reader.rows == Reader(to_html(compared())).rows


@settings(max_examples=100, deadline=None)
@given(TEXT)
@example(NASTY)
@example("</title></style></td><script>alert(1)</script>")
def test_any_text_is_shown_as_it_is(text):
    reader = Reader(to_html(with_texts(text)))
    expected = " ".join(text.split())
    assert "script" not in reader.tags
    assert reader.texts["h2"] == reader.texts["title"] == [expected]
    assert reader.texts["li"] == [expected]
    assert reader.texts["p"][0].startswith(expected)
    assert reader.texts["p"][-1] == f"x: {expected}".strip()
    titles = [row[0][2] for row in reader.rows[1:]]
    ratio = f"{expected}: ratio to the base" if expected else "Ratio to the base"
    heading = [expected] if expected else []
    assert titles == [*heading, expected, "other", ratio, f"other / {expected}".strip()]
