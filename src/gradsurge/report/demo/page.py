"""The page of a demo: the table, reliability diagrams and probability maps, in one file."""

import base64
import hashlib
from functools import cache
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from gradsurge.experiments.demo.findings import sentences
from gradsurge.experiments.demo.folder import EVALUATION, MAPS, REPORT
from gradsurge.experiments.demo.reading import ONE_BIN, abbreviations, caveats
from gradsurge.experiments.demo.result import DemoResult
from gradsurge.experiments.whole_file import write_whole
from gradsurge.report.demo.table import columns, facts
from gradsurge.report.evaluation.diagrams import reliability_views
from gradsurge.report.evaluation.page import write_report
from gradsurge.report.evaluation.pictures import png_uri
from gradsurge.report.figures import demo_maps
from gradsurge.report.style import save


def write_pages(result: DemoResult) -> list[str]:
    """Write the demo's page, the full report of the evaluation, and the maps as a picture.

    Returns:
        The files, the first one to be opened first.
    """
    out = result.out
    full, page = out / EVALUATION / "report.html", out / REPORT
    write_report(result.evaluation, full)
    made = [str(page), str(full)]
    picture = None
    if result.looks:
        figure = demo_maps.draw(demo_maps.compute(result.looks))
        (file,) = save(figure, out, MAPS.removesuffix(".png"), ("png",))
        picture = file.read_bytes()
        made.append(str(file))
    write_whole(page, render(result, picture).encode("utf-8", errors="replace"))
    return made


def render(result: DemoResult, maps: bytes | None) -> str:
    """Return the page's text; ``maps`` is the picture of the probability maps."""
    style = files("gradsurge.report.evaluation").joinpath("assets", "report.css").read_text("utf-8")
    views = reliability_views(result.evaluation)
    return (
        _environment()
        .get_template("demo.html.jinja")
        .render(
            result=result,
            says=sentences(result.rows, result.correction),
            columns=columns(result),
            facts=facts(result),
            letters=abbreviations(result),
            caveats=caveats(result),
            one_bin=ONE_BIN,
            view=views[0] if views else None,
            several=len(result.evaluation.labels) > 1,
            maps=None if maps is None else png_uri(maps),
            full=f"{EVALUATION}/report.html",
            style=Markup(style),  # ours, not a user's; the policy lets exactly this through
            policy=_policy(style),
        )
    )


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("gradsurge.report.demo", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _policy(style: str) -> str:
    """Allow pictures inside the page and its own style; nothing else."""
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return (
        f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; base-uri 'none'; "
        f"form-action 'none'"
    )
