"""The page of a demo: the table, reliability diagrams and probability maps, in one file."""

from functools import cache

from jinja2 import Environment
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
from gradsurge.report.html_pages import asset_of, exactly, policy, templates_of
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
    style = asset_of("gradsurge.report.evaluation", "report.css")
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
            policy=policy(img="data:", style=exactly(style)),
        )
    )


@cache
def _environment() -> Environment:
    return templates_of("gradsurge.report.demo")
