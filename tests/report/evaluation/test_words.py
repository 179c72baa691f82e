"""Comparisons in words: no more than the tests say."""

from dataclasses import replace

import pytest

from gradsurge.experiments.comparison import compare
from gradsurge.experiments.evaluation.result import Row
from gradsurge.report.evaluation.comparisons import compared_pairs
from gradsurge.report.evaluation.page import render
from tests.report.evaluation.example import example
from tests.report.evaluation.reading import Reading


@pytest.fixture(scope="module")
def empty():
    return example({"old": (1.0, 0.0), "new": (1.0, 0.0)}, cases=0, shape=(4, 16, 16))


def with_values(evaluation, old, new):
    """Return the evaluation with given NLLs of cases 0, 1, ... of two models."""
    models = {}
    for name, values in (("old", old), ("new", new)):
        rows = [Row(name, str(k), "all", "tumour", {"nll": v}) for k, v in enumerate(values)]
        cases = [row.case for row in rows]
        models[name] = replace(evaluation.models[name], rows=rows, cases=cases)
    scores = {
        name: {"nll": {row.case: row.scores["nll"] for row in model.rows}}
        for name, model in models.items()
    }
    return replace(evaluation, models=models, comparisons=compare(scores, resamples=100))


def said(evaluation):
    (pair,) = compared_pairs(evaluation)
    return pair.said


def test_a_difference_that_stands(empty):
    made = with_values(empty, [0.1 * k for k in range(8)], [0.1 * k + 0.3 for k in range(8)])
    assert said(made) == {"lower": "NLL (in 8 of 8 cases)"}
    words = Reading(render(made)).words
    assert "A old has lower NLL (in 8 of 8 cases) than B new. This stands" in words


def test_a_difference_that_is_not_shown(empty):
    made = with_values(empty, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [0.2, 0.1, 0.2, 0.5, 0.4, 0.5])
    p = made.comparisons[0].p_value
    assert said(made) == {"open": f"NLL (higher for A in 4 of 6 cases, p = {p:.3f})"}
    assert "That does not show that there is none." in Reading(render(made)).words


def test_few_cases_are_not_tested(empty):
    made = with_values(empty, [0.1, 0.2, 0.3, 0.4, 0.5], [0.2, 0.3, 0.4, 0.5, 0.6])
    assert said(made) == {"untested": "NLL (lower for A in 5 of 5 cases)"}
    assert "with 5 shared cases no result could be significant" in Reading(render(made)).words


def test_a_mean_that_most_cases_contradict(empty):
    made = with_values(empty, [0.1, 0.1, 0.1, 9.0], [0.2, 0.2, 0.2, 0.2])
    assert said(made) == {"untested": "NLL (higher for A in only 1 of 4 cases)"}


def test_a_test_that_contradicts_the_mean(empty):
    made = with_values(empty, [0.1 + 0.01 * k for k in range(19)] + [9.0], [0.5] * 20)
    (comparison,) = made.comparisons
    assert comparison.first_mean > comparison.second_mean
    assert comparison.adjusted_p_value < 0.05
    assert said(made) == {"split": "NLL (higher for A in only 1 of 20 cases)"}
    assert "the mean and most cases disagree in NLL (higher for A" in Reading(render(made)).words


def test_equal_models(empty):
    made = with_values(empty, [0.1] * 6, [0.1] * 6)
    assert said(made) == {"open": "NLL (p = 1.000)"}


def test_no_shared_case(empty):
    made = with_values(empty, [float("nan")], [0.1])
    assert said(made) == {"nothing": "NLL"}
    assert "share no case with a value of NLL" in Reading(render(made)).words
