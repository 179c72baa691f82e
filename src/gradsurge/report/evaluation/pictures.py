"""Figures and pictures as text that a page can hold."""

import base64
import re
from io import StringIO

import matplotlib as mpl
from matplotlib.figure import Figure

from gradsurge.report.style import STYLE

# Letters stay letters (a third of the size), in whatever font the reader's machine has.
_FONT = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


def svg_uri(figure: Figure) -> str:
    """Return a figure as a ``data:`` address of an SVG.

    An image of its own, not part of the page: names inside several figures cannot clash.
    """
    text = StringIO()
    # The salt makes names inside the file the same each time: the same data, the same bytes.
    how = mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "gradsurge"})
    with mpl.rc_context(STYLE), how:
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return _uri("image/svg+xml", _smaller(text.getvalue()).encode())


def png_uri(png: bytes) -> str:
    """Return a PNG file as a ``data:`` address."""
    return _uri("image/png", png)


def _uri(kind: str, content: bytes) -> str:
    return f"data:{kind};base64,{base64.b64encode(content).decode()}"


def _smaller(svg: str) -> str:
    """Leave out what nobody sees: metadata, names of groups, blanks, decimals of coordinates."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'<g id="[^"]*">', "<g>", svg)
    svg = re.sub(r"<[^>]*>", _shorter, svg)  # tags only: what stands between them is read
    svg = re.sub(r"\s+", " ", svg).replace("> <", "><")
    return svg.replace("'DejaVu Sans'", _FONT)


def _shorter(tag: re.Match[str]) -> str:
    return re.sub(r"(\d\.\d\d)\d+", r"\1", tag[0])
