"""What the curves of a training show."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradsurge.experiments.runs import RunRequest, plan_run
from gradsurge.experiments.runs.history import RunHistory, Validated
from gradsurge.experiments.runs.outcome import Outcome, Scores
from gradsurge.report.figures.training_curves import compute, draw, smoothed
from tests.experiments.runs.stores import disc_store


@given(st.lists(st.floats(-10, 10), min_size=1, max_size=400))
def test_smoothing_keeps_the_range_and_few_points(values):
    steps = np.arange(1.0, len(values) + 1)
    line = smoothed(steps, np.array(values))
    assert len(line.steps) == len(line.values) == min(len(values), 50)
    assert line.values.min() >= min(values) - 1e-9
    assert line.values.max() <= max(values) + 1e-9
    assert (np.diff(line.steps) > 0).all()


def test_what_is_not_finite_is_left_out():
    line = smoothed(np.arange(3.0), np.array([1.0, np.nan, 3.0]))
    assert line.values.tolist() == [1.0, 3.0]
    assert smoothed(np.array([]), np.array([])).steps.size == 0


@pytest.fixture
def history(tmp_path):
    """Three steps, two validations, the second the best, and an outcome."""
    scores = Scores(0.1, 0.02, 0.2, 0.03, 0.7, {"disc": 0.7}, (0.4,), 0.8)
    corrected = Scores(0.08, 0.01, 0.1, 0.025, 0.6, {"disc": 0.6}, (0.3,), 0.8)
    rows = {"none": scores, "equilibrium": corrected}
    return RunHistory(
        name="one",
        config=plan_run(disc_store(tmp_path), RunRequest("dice-surgery")),
        steps=[1, 2, 3],
        losses=[0.9, 0.6, 0.5],
        learning_rates=[0.1, 0.2, 0.05],
        minutes=1.0,
        validations=[
            Validated(1, {"dice": 0.4, "nll": 0.5}, True),
            Validated(3, {"dice": 0.7, "nll": 0.1, "ece": 0.02}, True),
        ],
        outcome=Outcome(3, 3, 2, rows, "equilibrium", 0.75, (0.4,), (0.5,)),
    )


def test_the_lines_are_those_of_the_run(history):
    curves = compute(history)
    assert curves.name == "one (dice-surgery)"
    assert curves.loss.values.tolist() == [0.9, 0.6, 0.5]
    assert curves.learning_rate.values.tolist() == [0.1, 0.2, 0.05]
    assert curves.scores["nll"].steps.tolist() == [1, 3]
    assert curves.scores["ece"].values.tolist() == [0.02]
    assert curves.scores["brier"].values.size == 0
    assert curves.best == 3
    # After the correction that was chosen; the Dice is that of the masks, at their thresholds.
    assert curves.end == {"nll": 0.08, "ece": 0.01, "brier": 0.025, "dice": 0.75}


def test_the_panels_show_them(history):
    figure = draw([compute(history)])
    panels = {axis.get_title(): axis for axis in figure.axes}
    assert list(panels) == [
        "training loss",
        *(f"validation {name}" for name in ("Dice", "NLL", "ECE", "Brier score")),
        "learning rate",
    ]
    (loss,) = panels["training loss"].lines
    assert np.asarray(loss.get_xydata()).tolist() == [[1, 0.9], [2, 0.6], [3, 0.5]]
    drawn = [np.asarray(line.get_xydata()).tolist() for line in panels["validation Dice"].lines]
    assert drawn == [[[1, 0.4], [3, 0.7]], [[1, 0.4], [3, 0.7]], [[3, 0.7]], [[3, 0.75]]]
    assert figure.legends[0].get_texts()[0].get_text() == "one (dice-surgery)"


def test_a_run_without_a_validation_has_no_best(history):
    curves = compute(replace(history, validations=[], outcome=None))
    assert (curves.best, curves.end) == (None, {})
    assert all(line.steps.size == 0 for line in curves.scores.values())
