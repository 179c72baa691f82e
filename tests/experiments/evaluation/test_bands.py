"""Intervals of a reliability curve by drawing cases again, against every possible draw."""

import itertools

import numpy as np
import pytest

from gradsurge.calibration.scores import Bins
from gradsurge.experiments.evaluation.bands import resampled_reliability


def bins(counts, positives, probability=0.3):
    counts = np.array(counts)
    return Bins(counts, counts * probability, np.array(positives))


# Bin 0 is in all cases, bin 1 in two, bin 2 in one, bin 3 in none.
CASES = [
    bins([10, 4, 6, 0], [1, 1, 3, 0]),
    bins([20, 8, 0, 0], [8, 6, 0, 0]),
    bins([30, 0, 0, 0], [3, 0, 0, 0]),
]


def test_the_middle_is_the_pooled_curve():
    curve = resampled_reliability(CASES)
    assert curve.counts.tolist() == [60, 12, 6, 0]
    assert curve.frequency[:3] == pytest.approx([12 / 60, 7 / 12, 3 / 6])
    assert curve.probability[:3] == pytest.approx([0.3] * 3)
    assert np.isnan(curve.frequency[3])
    assert np.isnan(curve.probability[3])
    assert curve.lower.tolist() == [0, 0.25, 0.5, 0.75]
    assert curve.upper.tolist() == [0.25, 0.5, 0.75, 1]


def test_a_bin_of_one_case_has_no_interval():
    curve = resampled_reliability(CASES)
    assert np.isnan(curve.low).tolist() == [False, False, True, True]
    assert np.isnan(curve.high).tolist() == [False, False, True, True]


def test_equal_seeds_give_equal_bits():
    first, second, other = (resampled_reliability(CASES, seed=seed) for seed in (0, 0, 1))
    for a, b in zip(first, second, strict=True):
        np.testing.assert_array_equal(a, b)
    few = [resampled_reliability(CASES, resamples=15, seed=s).high[0] for s in range(9)]
    assert len(set(few)) > 1  # the seed is used
    assert np.array_equal(first.frequency, other.frequency, equal_nan=True)


@pytest.mark.parametrize("confidence", [0.95, 0.8])
def test_quantiles_over_all_27_draws(confidence):
    curve = resampled_reliability(CASES, confidence=confidence, resamples=20000)
    for k in (0, 1):
        drawn = []
        for draw in itertools.product(CASES, repeat=3):
            total = sum(case.counts[k] for case in draw)
            if total:
                drawn.append(sum(case.positives[k] for case in draw) / total)
        drawn.sort()
        tail = (1 - confidence) / 2
        # Each draw stands for many: the quantile of the sample is one of the steps next to it.
        for found, level in ((curve.low[k], tail), (curve.high[k], 1 - tail)):
            below, above = (np.quantile(drawn, np.clip(level + d, 0, 1)) for d in (-0.05, 0.05))
            assert below <= found <= above
            assert np.abs(np.array(drawn) - found).min() < 1e-12


def test_one_case_has_a_curve_without_intervals():
    curve = resampled_reliability(CASES[:1])
    assert curve.frequency[0] == pytest.approx(0.1)
    assert np.isnan(curve.low).all()
    assert np.isnan(curve.high).all()


def test_equal_cases_have_intervals_of_no_width():
    curve = resampled_reliability([CASES[0]] * 4)
    assert curve.low[:3] == pytest.approx(curve.frequency[:3])
    assert curve.high[:3] == pytest.approx(curve.frequency[:3])
