"""The page: everything that was measured in one file that needs nothing else."""

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment
from markupsafe import Markup

from gradsurge.experiments.evaluation.definitions import DEFINITIONS, all_structures
from gradsurge.experiments.evaluation.result import Evaluation
from gradsurge.experiments.statistics import MINIMUM_PAIRS
from gradsurge.experiments.whole_file import write_whole
from gradsurge.report.evaluation import numbers, titles
from gradsurge.report.evaluation.comparisons import LEVEL, compared_pairs
from gradsurge.report.evaluation.diagrams import distribution_views, reliability_views
from gradsurge.report.evaluation.exactness import exactness
from gradsurge.report.evaluation.lesion_tables import lesion_sections
from gradsurge.report.evaluation.logit_tables import logit_sections
from gradsurge.report.evaluation.overview import overview
from gradsurge.report.evaluation.pictures import png_uri
from gradsurge.report.evaluation.score_tables import headline_table, region_tables
from gradsurge.report.evaluation.thresholds import START, slider_data, threshold_views
from gradsurge.report.evaluation.worst_cases import worst_cases
from gradsurge.report.figures import case_look, reliability
from gradsurge.report.html_pages import asset_of, exactly, policy, templates_of

_PACKAGE = "gradsurge.report.evaluation"


def write_report(evaluation: Evaluation, file: Path) -> None:
    """Write the report of an evaluation as one HTML file; a reader never sees half of it.

    The page asks for nothing outside of itself. Names of cases, models and folders are text
    whatever they hold, and the page's policy runs no script but its own.
    """
    # File names that are not UTF-8 reach us as lone surrogates, which cannot be written.
    write_whole(file, render(evaluation).encode("utf-8", errors="replace"))


def render(evaluation: Evaluation) -> str:
    """Return the page's text."""
    style, script = asset_of(_PACKAGE, "report.css"), asset_of(_PACKAGE, "report.js")
    return (
        _environment()
        .get_template("report.html.jinja")
        .render(
            **_content(evaluation),
            # Ours, not a user's; the policy lets exactly these two through.
            style=Markup(style),
            script=Markup(script),
            policy=policy(img="data:", style=exactly(style), script=exactly(script)),
        )
    )


def _content(evaluation: Evaluation) -> dict[str, Any]:
    summary, views = overview(evaluation), threshold_views(evaluation)
    return {
        "evaluation": evaluation,
        "overview": summary,
        "headline": headline_table(evaluation),
        "region_tables": region_tables(evaluation),
        "primary": titles.region_title(evaluation.settings.regions[0], evaluation.settings),
        "subject": evaluation.headline if evaluation.labels else "",
        "reliability": reliability_views(evaluation),
        "few": reliability.FEW,
        "distributions": distribution_views(evaluation),
        "thresholds": views,
        "start": START,
        "slider": slider_data(views, summary.models),
        "pairs": compared_pairs(evaluation),
        "level": LEVEL,
        "minimum_pairs": MINIMUM_PAIRS,
        "lesions": lesion_sections(evaluation),
        "logits": logit_sections(evaluation),
        "worst": worst_cases(evaluation),
        "bars": {
            "probability": png_uri(case_look.colour_bar(case_look.PROBABILITY_COLOURS)),
            "error": png_uri(case_look.colour_bar(case_look.ERROR_COLOURS)),
        },
        "definitions": DEFINITIONS,
        "all_structures": all_structures(evaluation),
        "exactness": exactness(evaluation),
    }


@cache
def _environment() -> Environment:
    environment = templates_of(_PACKAGE)
    environment.filters |= {
        "score": numbers.score,
        "bound": numbers.bound,
        "count": numbers.count,
        "percent": numbers.percent,
        "p_value": numbers.p_value,
        "score_title": titles.score_title,
        "better": titles.better,
    }
    environment.globals |= {"interval": numbers.interval}
    environment.tests["finite"] = numbers.finite
    return environment
