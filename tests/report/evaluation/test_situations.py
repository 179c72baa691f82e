"""Pages of little or odd data: each is written, says what is missing, and shows no NaN."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest

from gradsurge.calibration.bounded import Bounded
from gradsurge.experiments.evaluation.definitions import ALL_STRUCTURES
from gradsurge.experiments.evaluation.result import LesionSummary, Row
from gradsurge.experiments.statistics import MeanInterval
from gradsurge.report.evaluation.numbers import bound
from gradsurge.report.evaluation.page import render
from tests.report.evaluation.example import MODELS, example, with_problems
from tests.report.evaluation.reading import Reading

TINY = {"shape": (4, 20, 20), "resamples": 100, "regions": ("all",)}
TWO = dict(list(MODELS.items())[:2])
ONE = {"ce": MODELS["ce"]}


def read(evaluation):
    page = Reading(render(evaluation))
    shown = page.text + " ".join(a.get("alt", "") for _, a in page.elements)
    assert not re.search(r"\b(nan|inf|None|undefined)\b", shown.replace("undefined or infin", ""))
    cells = [cell.text.lower() for table in page.tables for row in table.rows for cell in row]
    assert not [text for text in cells if re.search(r"\bnan\b", text)]
    assert len(page.data["models"]) == len(evaluation.models)
    return page


def test_no_case_was_scored():
    empty = with_problems(example(TWO, cases=0, **TINY))
    empty.labels = []
    page = read(empty)
    assert "No case was scored." in page.words
    assert "case_013" in page.words
    assert not page.all("img")
    assert not page.all("input")


def test_one_model_has_no_comparison():
    page = read(example(ONE, cases=3, **TINY))
    assert "1 model, 3 cases, 1 structure." in page.words
    assert "Comparison" not in page.words
    assert "Grey lines" not in page.words
    assert not page.all("strong")


def test_one_case_has_neither_interval_nor_test():
    page = read(example(TWO, cases=1, **TINY))
    assert "One case only." in page.words
    assert "with 1 shared case no result could be significant, at least 6 are needed" in page.words
    rows = page.table("Bold: the best mean").rows
    assert " to " not in " ".join(cell.text for row in rows[2:4] for cell in row)


def test_models_on_different_cases_are_told():
    two = example(TWO, cases=4, **TINY)
    two.models["ce"].cases = ["another", *two.models["ce"].cases[1:]]
    assert "3 of 5 cases are shared by all" in read(two).words


@pytest.mark.parametrize("wanted", [True, False])
def test_no_lesions(wanted):
    made = example(ONE, cases=2, lesions=wanted, **TINY)
    made.models["ce"].lesions = {"tumour": LesionSummary()} if wanted else {}
    said = "There are no lesions" if wanted else "Lesions were not looked at."
    assert said in read(made).words


def test_false_positives_without_lesions_are_told():
    made = example(ONE, cases=2, **TINY)
    made.models["ce"].lesions["tumour"] = LesionSummary([], 3, 3)
    assert "3 false positives among 3 predicted components, 1.50 a case" in read(made).words


def test_no_looks_and_looks_without_an_image():
    made = example(ONE, cases=2, **TINY)
    made.looks = [replace(made.looks[0], image=None)]
    page = read(made)
    panels = [a["alt"] for a in page.all("img") if " of case " in a.get("alt", "")]
    assert [p.split(" of case ")[0] for p in panels] == ["Label", "Probability p", "Error |p − y|"]
    made.looks = []
    assert "There are no pictures." in read(made).words


def test_two_dimensions():
    page = read(example(ONE, cases=2, shape=(32, 32)))
    assert "Size, mm²" in page.words
    assert "2D" in page.words


def test_many_structures_head_with_all_of_them(two_structures_page):
    options = [a for a in two_structures_page.all("option") if a["value"] == "all"]
    assert len(options) == 3 + 1  # the region "all" of three choosers, and the structures of one
    assert "all structures, all voxels" in two_structures_page.words


def test_the_row_of_all_structures_is_defined_where_there_is_one(
    one_structure_page, two_structures_page
):
    text = ALL_STRUCTURES["multiclass"]
    assert text in two_structures_page.text
    assert text not in one_structure_page.text
    links = [a["href"] for a in two_structures_page.all("a")]
    assert links.count("#def-all-structures") == 1 + 2  # the headline, and a table a region


def test_clipped_outcomes_are_told():
    made = example(TWO, cases=2, **TINY)
    assert "probability below" not in read(made).words
    made.models["ce+dice"].sketches["all"].histograms[0].clipped = 1234
    said = read(made).text.split("They count as 2⁻²⁴ in the NLL")[1]
    assert "B ce+dice: 1\N{NARROW NO-BREAK SPACE}234 (all voxels)." in said


def test_notes_are_told():
    made = example(ONE, cases=2, **TINY)
    made.notes = ["--images: no scan of <i>here</i> is shown"]
    assert made.notes[0] in read(made).text


def test_the_largest_bounds_are_told():
    made = example(TWO, cases=3, **TINY)
    said = read(made).words.split("Exact and bounded")[1].split("Mean over cases")[0]
    models = made.models.values()
    for title, score in (("Equal-mass ECE", "equal_mass_ece"), ("AUROC", "auroc")):
        pooled = max(r.scores[score].error for m in models for r in m.pooled)
        cases = max(r.scores[score].error for m in models for r in m.rows)
        words = f"{title} ± {bound(pooled)} pooled, ± {bound(cases)} in a single case"
        assert words in said
    best = max(lens.best_dice.error for m in models for lens in m.lenses.values())
    assert f"best pooled Dice by {bound(best)} at most" in said


@pytest.mark.parametrize("value", [3.01e-9, 0.00491, 0.05, 0.0999, 0.2])
def test_bounds_are_rounded_up(value):
    text = bound(value).replace(" × 10", "e").translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789"))
    assert value <= float(text) * (1 + 1e-12) <= 1.11 * value


def test_paper_profile_in_three_dimensions():
    page = read(example(TWO, cases=2, profile="paper", **TINY))
    heads = [c.text for c in page.table("Bold: the best mean").rows[0]]
    assert heads == [
        "Model",
        "NLL ↓",
        "Brier, summed ↓",
        "Top-label ECE ↓",
        "Top-label MCE ↓",
        "Dice ↑",
    ]


def test_logits_are_called_logits():
    page = read(example(ONE, cases=2, logits=True, **TINY))
    assert "Mean logits, tumour" in page.words
    assert "log-probabilities, not logits" not in page.words


def test_a_region_without_numbers_of_one_model():
    made = example(TWO, cases=2, **TINY)
    del made.models["ce"].lenses["all", "tumour"]
    page = read(made)
    assert page.data["views"][0]["models"][0] is None
    row = page.table("At this threshold").row(" ce")
    assert [c.text for c in row[1:]] == ["–"] * 7


def test_undefined_and_infinite_numbers_are_dashes():
    made = example(ONE, cases=2, **TINY)
    model = made.models["ce"]
    model.rows = [
        Row(r.model, r.case, r.region, r.label, dict.fromkeys(r.scores, v))
        for r, v in zip(model.rows, (math.nan, math.inf), strict=True)
    ]
    model.pooled = [
        Row(r.model, r.case, r.region, r.label, dict.fromkeys(r.scores, math.nan))
        for r in model.pooled
    ]
    model.means = {key: MeanInterval(2, None, None, None) for key in model.means}
    for lens in model.lenses.values():
        lens.case_dice = np.full_like(lens.case_dice, np.nan)
        lens.best_threshold, lens.best_dice = math.nan, Bounded(math.nan, math.nan)
    page = read(made)
    assert "Each point is a case" not in page.words
    rows = page.table("tumour, all voxels").rows
    assert {c.text for row in rows[2:] for c in row[1:]} == {"–"}
    assert page.data["views"][0]["models"][0]["best"] is None
