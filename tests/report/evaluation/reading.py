"""A page as a parser sees it: elements, text, tables, and the data for its script."""

import json
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any


@dataclass
class Cell:
    """A cell: what a reader sees, and the numbers in it with all their digits."""

    raw: str = ""
    values: list[float] = field(default_factory=list)

    @property
    def text(self) -> str:
        """What is seen, with single blanks."""
        return re.sub(r"[ \n]+", " ", self.raw).strip()


@dataclass
class Table:
    caption: str = ""
    rows: list[list[Cell]] = field(default_factory=list)

    def row(self, *starts: str) -> list[Cell]:
        """Return the first row whose first cell ends in the given text."""
        return next(r for r in self.rows if r and r[0].text.endswith(starts))


class Reading(HTMLParser):
    """Elements with their attributes, the text outside of scripts and styles, and the tables."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.page = page
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.raw: dict[str, list[str]] = {"script": [], "style": []}
        self.tables: list[Table] = []
        self._inside: str | None = None
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, {k: v or "" for k, v in attrs}))
        if tag in self.raw:
            self._inside = tag
            self.raw[tag].append("")
        elif tag == "table":
            self.tables.append(Table())
        elif tag == "tr":
            self.tables[-1].rows.append([])
        elif tag in ("td", "th"):
            self.tables[-1].rows[-1].append(Cell())
            self._inside = "cell"
        elif tag == "caption":
            self._inside = "caption"
        elif tag == "data":
            self.tables[-1].rows[-1][-1].values.append(float(dict(attrs)["value"] or ""))

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th", "caption", "script", "style"):
            self._inside = None

    def handle_data(self, data: str) -> None:
        if self._inside in self.raw:
            self.raw[self._inside][-1] += data
            return
        self.text += data
        if self._inside == "cell":
            self.tables[-1].rows[-1][-1].raw += data
        elif self._inside == "caption":
            self.tables[-1].caption += data

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def table(self, caption: str) -> Table:
        """Return the table whose caption holds a text."""
        return next(t for t in self.tables if caption in " ".join(t.caption.split()))

    @property
    def words(self) -> str:
        """The text with single blanks."""
        return " ".join(self.text.split())

    @property
    def data(self) -> dict[str, Any]:
        return json.loads(self.raw["script"][0], parse_constant=_no_constant)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")
