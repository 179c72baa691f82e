"""A table as HTML: a page of its own, or a piece of one."""

from functools import cache

from jinja2 import Environment
from markupsafe import Markup

from gradsurge.experiments.result_table import ResultTable
from gradsurge.report.html_pages import asset_of, exactly, policy, templates_of
from gradsurge.report.tables.grid import grid_of
from gradsurge.report.tables.legend import full_caption, provenance_line
from gradsurge.report.tables.numbers import one_line

_PACKAGE = "gradsurge.report.tables"


def to_html(table: ResultTable) -> str:
    """Return a page that asks for nothing outside of itself; heads stay in sight."""
    style = _style()
    return (
        _environment()
        .get_template("page.html.jinja")
        .render(
            **_content(table),
            style=Markup(style),  # ours, not a user's; the policy lets exactly this through
            policy=policy(style=exactly(style)),
        )
    )


def to_html_fragment(table: ResultTable) -> str:
    """Return a ``section`` with its style, to be put into a page.

    Every rule of the style but that of ``body`` holds inside the section alone, so the page round
    it keeps its looks: the rule for ``body`` is left out here.
    """
    _, style = _style().split("\n", 1)
    body = _environment().get_template("fragment.html.jinja").render(**_content(table))
    return f"<style>{style}</style>\n{body}\n"


def _content(table: ResultTable) -> dict[str, object]:
    grid = grid_of(table)
    parts = [
        f"{source} first" if k == 0 else source
        for head in grid.heads
        for k, source in enumerate(head.sources)
    ]
    return {
        "title": one_line(table.title),
        "caption": full_caption(table, grid),
        "grid": grid,
        "parts": parts,
        "notes": [one_line(note) for note in table.notes],
        "provenance": provenance_line(table),
    }


@cache
def _environment() -> Environment:
    environment = templates_of(_PACKAGE)
    environment.filters["minus"] = lambda number: number.replace("-", "−")
    return environment


def _style() -> str:
    return asset_of(_PACKAGE, "table.css")
