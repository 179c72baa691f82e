import json
import math
from dataclasses import asdict
from itertools import combinations, product

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from gradsurge.experiments.comparison import compare
from gradsurge.experiments.statistics import bootstrap_mean, holm, wilcoxon_p_value


def wilcoxon_by_sign_flips(d):
    """Return the two-sided p-value by all 2^n sign patterns of the ranks."""
    ranks = scipy.stats.rankdata(np.abs(d))
    middle = ranks.sum() / 2
    observed = abs(ranks[np.asarray(d) > 0].sum() - middle)
    sums = [np.dot(ranks, signs) for signs in product((0, 1), repeat=len(d))]
    return np.mean([abs(s - middle) >= observed - 1e-9 for s in sums])


def holm_by_closed_testing(p):
    """Return, for each test, the worst Bonferroni p-value of all families that contain it."""
    everything = range(len(p))
    families = [f for k in range(1, len(p) + 1) for f in combinations(everything, k)]
    worst = {f: min(1.0, len(f) * min(p[j] for j in f)) for f in families}
    return [max(worst[f] for f in families if i in f) for i in everything]


@settings(max_examples=60, deadline=None)
@given(p=st.lists(st.floats(0, 1), min_size=0, max_size=7))
def test_holm_is_closed_testing_with_bonferroni(p):
    assert holm(p) == pytest.approx(holm_by_closed_testing(p), abs=1e-12)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), n=st.integers(6, 9), tied=st.booleans())
def test_wilcoxon_by_all_sign_flips(seed, n, tied):
    rng = np.random.default_rng(seed)
    d = rng.choice([-2.0, -1.0, 1.0, 2.0, 3.0], n) if tied else rng.normal(0.5, 1, n)
    assert wilcoxon_p_value(d) == pytest.approx(wilcoxon_by_sign_flips(d), abs=1e-12)


def test_wilcoxon_drops_zeros_and_ranks_infinity_highest():
    d = [0.1, -0.2, 0.3, 0.4, 0.5, 0.6]
    assert wilcoxon_p_value([*d, 0.0, 0.0]) == wilcoxon_p_value(d)
    assert wilcoxon_p_value([*d, math.inf]) == wilcoxon_p_value([*d, 100.0])


def test_wilcoxon_without_evidence():
    assert wilcoxon_p_value([0.0] * 10) == 1.0
    assert wilcoxon_p_value([1.0] * 5) is None
    assert wilcoxon_p_value([]) is None
    assert wilcoxon_p_value([1.0] * 6) == pytest.approx(2 / 2**6)


def test_bootstrap_of_normal_data_is_the_textbook_interval():
    x = np.random.default_rng(1).normal(3, 2, 400)
    found = bootstrap_mean(x)
    half = scipy.stats.norm.ppf(0.975) * x.std() / 20
    assert found.mean == pytest.approx(x.mean())
    assert found.low == pytest.approx(x.mean() - half, abs=0.05 * half)
    assert found.high == pytest.approx(x.mean() + half, abs=0.05 * half)


def test_bootstrap_covers_the_true_mean_as_often_as_it_says():
    rng = np.random.default_rng(0)
    found = [bootstrap_mean(rng.exponential(1, 25), resamples=400) for _ in range(300)]
    covered = np.mean([f.low <= 1 <= f.high for f in found])
    assert 0.86 < covered < 0.98  # nominal 0.95; skewed data of 25 cases fall a little short


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), scale=st.sampled_from([0.5, 8.0]), n=st.integers(2, 30))
def test_bootstrap_follows_the_scale(seed, scale, n):
    x = np.random.default_rng(seed).normal(size=n)
    found, scaled = bootstrap_mean(x, resamples=999), bootstrap_mean(scale * x, resamples=999)
    assert (scaled.low, scaled.high) == (scale * found.low, scale * found.high)


@settings(max_examples=40, deadline=None)
@given(x=st.lists(st.sampled_from([0.0, 0.5, 1.0, 1e-13, 1e9]), min_size=2, max_size=12))
def test_bootstrap_of_awkward_data_is_finite(x):
    found = bootstrap_mean(x, resamples=200)
    slack = 1 + 1e-9  # sums round
    assert min(x) <= found.low * slack
    assert found.low <= found.mean * slack
    assert found.mean <= found.high * slack
    assert found.high <= max(x) * slack


def test_bootstrap_repeats_itself():
    x = np.random.default_rng(2).random(30)
    assert bootstrap_mean(x) == bootstrap_mean(x)
    assert bootstrap_mean(x) != bootstrap_mean(x, seed=1)
    wide, narrow = bootstrap_mean(x, confidence=0.99), bootstrap_mean(x, confidence=0.5)
    assert wide.low < narrow.low < narrow.high < wide.high


@pytest.mark.parametrize(
    ("x", "mean", "low"),
    [([], None, None), ([2.0], 2.0, None), ([1.0, math.inf, 2.0], None, None), ([3, 3], 3, 3)],
)
def test_bootstrap_of_data_without_an_interval(x, mean, low):
    found = bootstrap_mean(x)
    assert (found.cases, found.mean, found.low, found.high) == (len(x), mean, low, low)


def three_models(n=20):
    rng = np.random.default_rng(0)
    names = [f"case{i}" for i in range(n)]
    base = rng.random(n)
    return {
        model: {
            metric: dict(zip(names, base + shift + 0.05 * rng.normal(size=n), strict=True))
            for metric in ("dice", "ece")
        }
        for model, shift in (("a", 0.0), ("b", 0.01), ("c", 0.2))
    }


def test_compare_against_scipy_pair_by_pair():
    models = three_models()
    found = compare(models, resamples=500)
    assert [(c.first, c.second, c.metric) for c in found] == [
        (x, y, m) for x, y in (("a", "b"), ("a", "c"), ("b", "c")) for m in ("dice", "ece")
    ]
    for c in found:
        x, y = (np.array([*models[name][c.metric].values()]) for name in (c.first, c.second))
        assert c.p_value == pytest.approx(scipy.stats.wilcoxon(x, y).pvalue, rel=1e-9)
        assert c.first_mean == pytest.approx(x.mean())
        assert c.second_mean == pytest.approx(y.mean())
        assert c.difference.mean == pytest.approx((x - y).mean(), abs=1e-11)
        assert c.difference.low < c.difference.mean < c.difference.high
        assert (c.cases, c.dropped, c.unpaired) == (20, 0, 0)
    expected = holm_by_closed_testing([c.p_value for c in found])
    assert [c.adjusted_p_value for c in found] == pytest.approx(expected)


def test_compare_takes_the_pairs_that_both_have_in_any_order():
    a = {f"c{i}": i / 10 for i in range(10)}
    b = {f"c{i}": i / 10 + 0.01 * (i + 1) for i in reversed(range(2, 12))}
    a["c3"], b["c4"], b["c5"] = math.nan, None, math.nan
    (found,) = compare({"a": {"dice": a, "own": a}, "b": {"dice": b}})
    assert (found.cases, found.dropped, found.unpaired) == (5, 3, 4)
    expected = [-0.01 * (i + 1) for i in (2, 6, 7, 8, 9)]
    assert found.difference.mean == pytest.approx(np.mean(expected))
    assert found.p_value is None
    assert found.adjusted_p_value is None


def test_untested_pairs_are_no_part_of_the_family():
    few = {f"c{i}": float(i) for i in range(3)}
    many = {f"c{i}": float(i) for i in range(8)}
    more = {c: v + 1 + v / 10 for c, v in many.items()}
    found = compare({"a": {"few": few, "many": many}, "b": {"few": few, "many": more}})
    assert [c.adjusted_p_value for c in found] == [None, pytest.approx(2 / 2**8)]


def test_rounding_is_no_difference():
    rng = np.random.default_rng(0)
    a = {f"c{i}": v for i, v in enumerate(rng.random(30))}
    b = {c: v * (1 + 4e-16) for c, v in a.items()}  # the same model, summed in another order
    assert any(a[c] != b[c] for c in a)
    (found,) = compare({"a": {"nll": a}, "b": {"nll": b}})
    assert found.p_value == 1.0
    assert (found.difference.low, found.difference.high) == (0.0, 0.0)


def test_infinite_distances_are_ranked_but_not_averaged():
    a = {f"c{i}": float(i) for i in range(8)}
    b = {c: v + 1 + v / 10 for c, v in a.items()}
    a["c0"] = b["c0"] = b["c1"] = math.inf
    (found,) = compare({"a": {"hd95": a}, "b": {"hd95": b}})
    assert found.cases == 8
    assert found.p_value == pytest.approx(2 / 2**7)  # both infinite: no difference
    assert (found.second_mean, found.difference.mean, found.difference.low) == (None, None, None)
    assert json.loads(json.dumps(asdict(found), allow_nan=False))["metric"] == "hd95"


def test_nothing_to_compare():
    assert compare({}) == []
    assert compare({"a": {"dice": {"c": 1.0}}}) == []
    (found,) = compare({"a": {"dice": {"c": 1.0}}, "b": {"dice": {"d": 1.0}}})
    assert (found.cases, found.unpaired, found.first_mean, found.p_value) == (0, 2, None, None)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: holm([0.1, 1.2]), r"p_values: .*\[0, 1\].*1.2"),
        (lambda: holm([math.nan]), "p_values: .*nan"),
        (lambda: wilcoxon_p_value([[1.0]]), r"differences: .*\(1, 1\)"),
        (lambda: wilcoxon_p_value([math.nan]), "differences: .*1 NaN"),
        (lambda: bootstrap_mean([1.0, math.nan]), "values: .*without NaN"),
        (lambda: bootstrap_mean([1.0], confidence=95), "confidence: .*got 95"),
        (lambda: bootstrap_mean([1.0], resamples=1), "resamples: .*got 1"),
    ],
)
def test_bad_input(call, text):
    with pytest.raises(ValueError, match=text):
        call()
