"""Scores after a recalibration: from the sketch, against the voxels that were really mapped."""

import json
import math
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from gradsurge.calibration import CalibrationSketch
from gradsurge.calibration.known_cases import KnownCases
from gradsurge.calibration.recalibration import (
    Isotonic,
    Platt,
    compare_recalibrations,
    fit_recalibration,
    original_scores,
    recalibrated_scores,
)
from tests.calibration.definitions import ece, mce
from tests.calibration.recalibration.examples import (
    EVERY,
    binary_logits,
    example,
    sketch_of,
)

BINARY = [method for method, kind in EVERY if kind == "binary"]


def voxel_scores(p, y):
    """Return (NLL, Brier, ECE, MCE, Dice at 0.5, best Dice) in plain float64."""
    truth = np.maximum(np.where(y == 1, p, 1 - p), 2.0**-24)
    dice = [2 * y[p > t].sum() / ((p > t).sum() + y.sum()) for t in (0.5, -1.0, *np.unique(p))]
    return [
        -np.log(truth).mean(),
        np.square(p - y).mean(),
        ece(p, y, 15),
        mce(p, y, 15),
        dice[0],
        max(dice),
    ]


@pytest.mark.parametrize("method", BINARY)
@pytest.mark.parametrize("spread", [1.0, 3.0, 10.0])
def test_every_score_is_within_its_bound_of_the_voxels(method, spread):
    z, y = binary_logits(seed=7, n=3000, spread=spread)
    found = example(method, "binary")
    scores = recalibrated_scores(CalibrationSketch().update_logits(z, y), found)
    expected = voxel_scores(found.apply_logits(z), y)
    for name, score, value in zip(scores._fields, scores, expected, strict=True):
        assert abs(score - value) <= score.error + 1e-12, name
    for name in ("nll", "brier", "ece"):
        assert getattr(scores, name).error < 0.004, name
        assert abs(getattr(scores, name) - expected[scores._fields.index(name)]) < 5e-4, name


@pytest.mark.parametrize("method", ["temperature", "platt", "bias", "isotonic"])
@pytest.mark.parametrize("given", ["logits", "float32 probabilities"])
def test_the_bounds_hold_where_background_is_as_sure_as_float32_can_tell(method, given):
    z, y = binary_logits(seed=7, n=3000, spread=3.0)
    sure = np.linspace(-110, -60, 27_000)
    z, y = np.append(z, sure), np.append(y, np.zeros(sure.size, int))
    sketch, p = CalibrationSketch(), expit(z).astype(np.float32)
    sketch = sketch.update_logits(z, y) if given == "logits" else sketch.update_probabilities(p, y)
    found = fit_recalibration(method, sketch)
    moved = found.apply_logits(z) if given == "logits" else found.apply_probabilities(p)
    scores = recalibrated_scores(sketch, found)
    expected = voxel_scores(moved.astype(np.float64), y)
    for name, score, value in zip(scores._fields, scores, expected, strict=True):
        assert abs(score - value) <= score.error + 1e-6, name


def test_dice_after_a_map_that_rises_is_exact():
    p, y = np.array([0.2, 0.50001, 0.50001, 0.50001, 0.9]), np.array([0, 1, 0, 1, 1])
    halved = Platt(kind="binary", classes=2, scales=(0.5,), biases=(0.0,), limits=(16.6,))
    dice = recalibrated_scores(CalibrationSketch().update_probabilities(p, y), halved).dice
    assert (float(dice), dice.error) == (pytest.approx(6 / 7), 0.0)


@pytest.mark.parametrize("seed", range(12))
def test_the_bounds_hold_where_a_table_is_flat_at_a_threshold_or_an_edge(seed):
    """Of noisy fits, many a flat block ends exactly at 0.5, or at the edge of a bin."""
    rng = np.random.default_rng(seed)
    fitted_on = rng.normal(0, 4, 3000)
    found = fit_recalibration(
        "isotonic",
        CalibrationSketch().update_logits(fitted_on, rng.random(3000) < expit(0.3 * fitted_on + 1)),
    )
    flat = replace(found, values=(tuple(np.round(np.array(found.values[0]) * 30) / 30),))
    z = rng.normal(-1, 3, 3000)
    y = (rng.random(3000) < expit(z)).astype(np.int64)
    sketch = CalibrationSketch().update_logits(z, y)
    for table in (found, flat):
        scores = recalibrated_scores(sketch, table)
        expected = voxel_scores(table.apply_logits(z), y)
        for name, score, value in zip(scores._fields, scores, expected, strict=True):
            assert abs(score - value) <= score.error + 1e-9, name


def test_a_cell_that_begins_at_the_threshold_is_marked_in_part():
    """The map is flat up to the middle of a cell: the lower voxel stays at 0.5, the upper rises."""
    p, y = 0.6 + np.array([0.2, 0.8]) / 25200, np.array([0, 1])
    knot = float(np.log(p.mean() / (1 - p.mean())))
    table = Isotonic(
        kind="binary",
        classes=2,
        knots=((-1.0, knot, 2.0),),
        values=((0.5, 0.5, 0.9),),
        limits=(16.6,),
    )
    dice = recalibrated_scores(CalibrationSketch().update_probabilities(p, y), table).dice
    assert voxel_scores(table.apply_probabilities(p), y)[4] == 1.0
    assert abs(dice - 1.0) <= dice.error + 1e-12


@settings(max_examples=40, deadline=None)
@given(
    pairs=st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=40),
    scale=st.floats(0.05, 10),
    bias=st.floats(-20, 20),
)
def test_the_bounds_hold_for_any_pairs_and_any_line(pairs, scale, bias):
    p, y = (np.array(column) for column in zip(*pairs, strict=True))
    y = y.astype(np.int64)
    line = Platt(kind="binary", classes=2, scales=(scale,), biases=(bias,), limits=(16.6,))
    scores = recalibrated_scores(CalibrationSketch().update_probabilities(p, y), line)
    moved = line.apply_probabilities(p)
    truth = np.maximum(np.where(y == 1, moved, 1 - moved), 2.0**-24)
    expected = {
        "nll": -np.log(truth).mean(),
        "brier": np.square(moved - y).mean(),
        "ece": ece(moved, y, 15),
        "mce": mce(moved, y, 15),
    }
    for name, value in expected.items():
        found = getattr(scores, name)
        assert abs(found - value) <= found.error + 1e-9, name


@pytest.mark.parametrize("others", [[], [0.49, 0.52]])
def test_the_bounds_cover_a_cell_that_is_cut_by_the_edge_of_a_bin(others):
    """Two voxels of one cell end in two bins; their mean, in one, hides that both are wrong."""
    p, y = 0.5 + np.array([0.2, 0.8]) / 25200, np.array([1, 0])
    edge = np.log((8 / 15) / (7 / 15)) - np.log(p.mean() / (1 - p.mean()))
    p, y = np.concatenate((p, others)), np.concatenate((y, np.ones(len(others), np.int64)))
    line = Platt(kind="binary", classes=2, scales=(1.0,), biases=(edge,), limits=(16.6,))
    moved = line.apply_probabilities(p)
    assert moved[0] < 8 / 15 < moved[1]
    scores = recalibrated_scores(CalibrationSketch().update_probabilities(p, y), line)
    for found, value in ((scores.ece, ece(moved, y, 15)), (scores.mce, mce(moved, y, 15))):
        assert abs(found - value) > 0.02
        assert abs(found - value) <= found.error


def test_a_million_voxels_have_small_bounds():
    z, y = binary_logits(n=1_000_000, spread=4.0, scale=0.6)
    p = expit(z).astype(np.float32)
    sketch = CalibrationSketch().update_probabilities(p, y)
    found = fit_recalibration("platt", sketch)
    scores = recalibrated_scores(sketch, found)
    again = CalibrationSketch().update_probabilities(found.apply_probabilities(p), y)
    for name, tolerance in (("nll", 1e-4), ("brier", 2e-5), ("ece", 6e-4), ("mce", 2e-3)):
        score = getattr(scores, name)
        assert score.error < tolerance
        assert abs(score - getattr(again, name)()) < score.error / 5, name
    assert abs(scores.dice - again.dice_at(0.5)) < 1e-4


def test_multilabel_scores_are_the_mean_of_its_channels():
    found, sketch = example("platt", "multilabel"), sketch_of("multilabel")
    pairs = [binary_logits(0), binary_logits(1, scale=1.5, bias=0.4)]
    alone = []
    for k, pair in enumerate(pairs):
        line = Platt(
            kind="binary",
            classes=2,
            scales=found.scales[k : k + 1],
            biases=found.biases[k : k + 1],
            limits=found.limits[k : k + 1],
        )
        alone.append(recalibrated_scores(CalibrationSketch().update_logits(*pair), line))
    np.testing.assert_allclose(recalibrated_scores(sketch, found), np.mean(alone, axis=0))


def test_what_a_multiclass_sketch_cannot_tell_is_not_invented():
    sketch = sketch_of("multiclass")
    for method, kind in EVERY:
        if kind == "multiclass":
            scores = recalibrated_scores(sketch, example(method, kind))
            assert math.isnan(scores.nll) == (method != "temperature")
            assert all(math.isnan(value) for value in scores[1:])
    assert recalibrated_scores(sketch, example("temperature", "multiclass")).nll < sketch.nll()


def test_scores_before_are_those_of_the_sketch():
    sketch = sketch_of("binary")
    before = original_scores(sketch)
    assert before[:4] == (sketch.nll(), sketch.brier(), sketch.ece(), sketch.mce())
    assert before.best_dice == sketch.best_threshold().dice


def test_a_sketch_without_positives_has_no_dice_but_the_rest():
    z = np.linspace(-9.0, -1.0, 50)
    sketch = CalibrationSketch().update_logits(z, np.zeros(50, np.int64))
    scores = recalibrated_scores(sketch, example("bias", "binary"))
    assert math.isnan(scores.best_dice)
    assert 0 < scores.nll < 1


def test_other_kinds_and_empty_sketches_are_refused():
    found = example("platt", "binary")
    with pytest.raises(
        ValueError, match=r"sketch: expected binary of 2 classes, .* multilabel of 2"
    ):
        recalibrated_scores(sketch_of("multilabel"), found)
    with pytest.raises(ValueError, match="expected voxels to score on, got an empty sketch"):
        recalibrated_scores(CalibrationSketch(), found)


@pytest.mark.parametrize("kind", ["binary", "multiclass", "multilabel"])
def test_the_comparison_fits_on_one_and_scores_on_the_other(kind):
    validation, test = sketch_of(kind, 10), sketch_of(kind, 20)
    extra = example("equilibrium", kind)
    table = compare_recalibrations(
        validation, test, ["temperature", "isotonic", extra], same_cases=False
    )
    assert [row.method for row in table.rows] == ["none", "temperature", "isotonic", "equilibrium"]
    fitted = fit_recalibration("temperature", validation)
    assert table.rows[1].recalibration == fitted
    assert table.rows[1].scores.nll == recalibrated_scores(test, fitted).nll
    assert table.rows[1].scores.nll < table.rows[0].scores.nll
    assert not table.same_cases
    assert table.caption.startswith(
        f"fitted on {validation.voxels} voxels, scored on {test.voxels}"
    )
    content = json.loads(json.dumps(table.to_dict(), allow_nan=False))
    assert content["rows"][1]["parameters"] == fitted.parameters
    assert content["rows"][1]["errors"]["nll"] > 0


def test_the_same_cases_are_marked_whether_said_or_seen():
    validation, test = sketch_of("binary", 10), sketch_of("binary", 20)
    copy = deepcopy(validation)
    for other, said in ((test, True), (validation, False), (copy, False), (copy, None)):
        table = compare_recalibrations(validation, other, ["bias"], same_cases=said)
        assert table.same_cases
        assert "fitted and scored on the same cases" in table.caption
        assert table.to_dict()["same_cases"] is True


def named(seed, *names):
    """A sketch whose voxels belong to cases of these digests."""
    sketch = deepcopy(sketch_of("binary", seed))
    sketch.cases = KnownCases(set(names), sketch.voxels)
    return sketch


@pytest.mark.parametrize("said", [None, False, True])
def test_a_shared_case_is_seen_whatever_is_said(said):
    table = compare_recalibrations(named(10, 1, 2, 3), named(20, 3, 4), ["bias"], same_cases=said)
    assert table.same_cases is True
    assert table.caption.startswith("fitted on 1 of the 2 cases it is scored on: too good")
    assert table.to_dict()["shared_cases"] == 1
    every = compare_recalibrations(named(10, 1, 2, 3), named(20, 1, 2), ["bias"], same_cases=said)
    assert "on the same cases: too good for new ones (2 cases, " in every.caption


def test_other_cases_are_claimed_only_where_all_are_known_or_it_was_said():
    known, others, unknown = named(10, 1, 2), named(20, 3), sketch_of("binary", 30)
    assert compare_recalibrations(known, others, ["bias"]).same_cases is False
    for fit_on, score_on in (
        (known, unknown),
        (unknown, known),
        (sketch_of("binary", 40), unknown),
        (known, others + unknown),
    ):
        table = compare_recalibrations(fit_on, score_on, ["bias"])
        assert table.same_cases is None
        assert table.caption.endswith("whether these are other cases is not known")
        assert table.to_dict()["same_cases"] is None
        said = compare_recalibrations(fit_on, score_on, ["bias"], same_cases=False)
        assert said.caption.endswith(f"scored on {score_on.voxels} of other cases")


def test_what_a_multiclass_sketch_knows_is_said_once():
    table = compare_recalibrations(sketch_of("multiclass", 10), sketch_of("multiclass", 20))
    assert [row.method for row in table.rows if row.is_scored] == ["none", "temperature"]
    assert not any(row.note for row in table.rows)
    assert "NLL after a temperature" in table.to_dict()["note"]
    assert compare_recalibrations(sketch_of("binary", 10), sketch_of("binary", 20)).note is None


def test_the_notes_of_a_fit_reach_the_table():
    z = np.array([-2.0, -1.0, 1.0, 2.0])
    separable = CalibrationSketch().update_logits(z, z > 0)
    table = compare_recalibrations(separable, sketch_of("binary"), ["platt"], same_cases=False)
    assert "scale at its bound 10" in table.rows[1].note
    assert table.to_dict()["rows"][1]["note"] == table.rows[1].note


def test_an_unknown_method_is_refused():
    with pytest.raises(ValueError, match="method: expected one of"):
        compare_recalibrations(sketch_of("binary"), sketch_of("binary"), ["magic"])
