"""The viewer as a page: one file with everything inside, or one whose volumes come beside it."""

import base64
import gzip
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from jinja2 import Environment
from markupsafe import Markup

from gradsurge.experiments.viewing.case_view import CaseView
from gradsurge.experiments.whole_file import write_whole
from gradsurge.report.html_pages import asset_of, exactly, policy, templates_of
from gradsurge.report.viewer.contents import Contents, contents_of
from gradsurge.report.viewer.niivue import niivue_script
from gradsurge.report.viewer.precision import precision_of

_PACKAGE = "gradsurge.report.viewer"
# In this order they are one module.
_SHARED = (
    *("bytes", "outlines", "panel", "words", "elements", "readout", "controls", "keys"),
    *("viewer", "frame"),
)
# Of the page: what surrounds the viewer, which in a notebook is somebody else's.
_BODY = "html,body{margin:0;background:#101214;color:#e8eaed;font:14px/1.45 system-ui,sans-serif}"
NIIVUE = "niivue"


def write_page(
    view: CaseView, file: Path, on_part: Callable[[str], object] = lambda _: None
) -> int:
    """Write a case as one HTML file that needs nothing else, and return its size in bytes.

    The page asks for nothing outside of itself, and runs no script but its own and NiiVue.

    Args:
        view: the case.
        file: to write; a reader never sees half of it.
        on_part: told which volume is made ready.

    Raises:
        ValueError: ipyniivue is not there.
    """
    script = niivue_script()  # its absence is told before anything is computed
    contents = contents_of(view, precision_of(view), on_part)
    parts = {**contents.parts, NIIVUE: niivue_part()}
    text = render(contents, parts, script.licence).encode("utf-8", errors="replace")
    write_whole(file, text)
    return len(text)


def render(contents: Contents, parts: Mapping[str, bytes], licence: str = "") -> str:
    """Return the text of the page.

    Args:
        contents: what is shown.
        parts: those that are inside of the page; the others are fetched from beside it.
        licence: of NiiVue, if it is among the parts.
    """
    style, script = _BODY + asset("viewer.css"), module_text("page")
    return (
        _environment()
        .get_template("viewer.html.jinja")
        .render(
            case=contents.description["case"],
            description={**contents.description, "made": niivue_script().version},
            parts=[(name, base64.b64encode(data).decode()) for name, data in parts.items()],
            licence=licence,
            # Ours, not a user's; the policy lets exactly these two through.
            style=Markup(style),
            script=Markup(script),
            policy=_policy(style, script, "" if parts else "'self' "),
        )
    )


def module_text(host: str) -> str:
    """Return the viewer as one ES module.

    Args:
        host: "page" or "notebook".
    """
    return "\n".join(asset(f"{name}.js") for name in (*_SHARED, host))


@cache
def niivue_part() -> bytes:
    """Return NiiVue's module, gzipped."""
    return gzip.compress(niivue_script().source.encode(), mtime=0)


def asset(name: str) -> str:
    """Return the text of one of our own scripts or styles."""
    return asset_of(_PACKAGE, name)


@cache
def _environment() -> Environment:
    return templates_of(_PACKAGE)


def _policy(style: str, script: str, connect: str) -> str:
    """Allow our style and script, NiiVue from memory and its pictures; nothing from elsewhere."""
    return policy(
        script=f"{exactly(script)} blob:",
        style=exactly(style),
        img="data: blob:",
        connect=f"{connect}data: blob:",
    )
