"""What ``gradsurge view`` does with what was typed: gather, then write or serve."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.markup import escape

from gradsurge.cli.output import fail, progress_bar

if TYPE_CHECKING:
    from gradsurge.experiments.viewing.case_view import CaseView
    from gradsurge.report.viewer.contents import Contents
    from gradsurge.report.viewer.local_server import LocalServer

_HEAVY = 25 * 10**6  # bytes: what mail servers usually take
_MANY = 200 * 10**6  # voxels: textures of 4 bytes for the scan and for the overlays


@dataclass(frozen=True)
class View:
    """What is shown, and where.

    Attributes:
        request: fields of `ViewRequest`; folders and maps as (name, path).
        html: file to write; None for a local page.
        port: of the local page.
        opens: whether a browser is opened.
    """

    request: Mapping[str, Any]
    html: Path | None
    port: int
    opens: bool


def show_view(view: View) -> None:
    """Run the command; a mistake is one line and exit code 1."""
    if view.html is not None:
        _write(view, view.html)
    else:
        _serve(view)


def _write(view: View, file: Path) -> None:
    with _working() as tell:
        from gradsurge.report.viewer.page import write_page

        case = _gathered(view, tell)
        size = write_page(case, file, on_part=lambda part: tell(f"writing {part}"))
    _say_notes(case)
    if size > _HEAVY:
        cure = "; --structure leaves maps out" if len(case.structures) > 1 else ""
        _warn(f"{file} has {_megabytes(size)}, more than mail usually takes{cure}")
    typer.echo(f"Written: {file} ({_megabytes(size)}), {case.case}; open it in any browser")


def _serve(view: View) -> None:
    with _working() as tell:
        from gradsurge.report.viewer.contents import contents_of

        case = _gathered(view, tell)
        contents = contents_of(case, on_part=lambda part: tell(f"making {part}"))
        server = _server(contents, view.port)
    _say_notes(case)
    with server:
        typer.echo(f"{case.case}: {server.url}")
        typer.echo("Only this machine can open it, and only with this address. Ctrl-C ends it.")
        if view.opens:
            import webbrowser

            webbrowser.open(server.ticket_url)
        try:
            server.serve()
        except KeyboardInterrupt:
            typer.echo("Ended.", err=True)


def _gathered(view: View, tell: Any) -> "CaseView":
    from gradsurge.experiments.viewing.gathering import gather
    from gradsurge.experiments.viewing.request import Named, ViewRequest
    from gradsurge.report.viewer.niivue import niivue_script

    niivue_script()  # what is missing is told before anything is computed
    named = {
        key: tuple(Named(name, path) for name, path in view.request[key])
        for key in ("folders", "maps")
    }
    return gather(ViewRequest(**{**view.request, **named, "on_step": tell}))


def _server(contents: "Contents", port: int) -> "LocalServer":
    from gradsurge.report.viewer.local_server import LocalServer, served_contents

    try:
        return LocalServer(served_contents(contents), port)
    except OSError as error:
        raise ValueError(
            f"--port: {port} is not to be had ({error.strerror or error}); leave it out for a "
            f"free one"
        ) from error


@contextmanager
def _working() -> Iterator[Any]:
    """Show what is being done; turn mistakes into one line."""
    try:
        with progress_bar("loading", total=1) as (bar, task):
            yield lambda text: bar.update(task, description=escape(text))
    except ValueError as error:  # CaseError among them
        fail(error)
    except KeyboardInterrupt as error:
        fail("stopped", error)


def _say_notes(case: "CaseView") -> None:
    for note in case.notes:
        _warn(note)
    count = 1
    for length in case.layout.shape:
        count *= length
    if count > _MANY:
        _warn(f"{count:,} voxels: a browser needs {_megabytes(12 * count)} of memory or more")


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.3g} MB"


def _warn(text: str) -> None:
    typer.echo(f"gradsurge: warning: {' '.join(text.split())}", err=True)
