import itertools
import math
from dataclasses import replace

import numpy as np
import optuna
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from gradsurge.experiments.recipes import Choice, Range, Search, read_recipe
from gradsurge.experiments.search import draw_points, points_of
from gradsurge.experiments.search.points import distributions_of

RANDOM = Search("random", trials=25, keep=5)
SPACE = {
    "training.learning_rate": Range(1e-3, 1e-2, "log"),
    "training.momentum": Range(0.95, 0.999),
    "loss.a": Choice((0.3, 0.4, 0.6, 0.7)),
}
numbers = st.floats(-1e6, 1e6, allow_nan=False)


@st.composite
def ranges(draw):
    scale = draw(st.sampled_from(["linear", "log"]))
    low, high = sorted(draw(st.lists(numbers, min_size=2, max_size=2, unique=True)))
    if scale == "log":
        low, high = (math.exp(value / 1e5) for value in (low, high))
    return Range(low, high, scale) if low < high else Range(1.0, 2.0, scale)


choices = st.lists(
    st.one_of(st.integers(), st.text(), st.lists(st.integers())),
    min_size=1,
    max_size=4,
    unique_by=repr,
)
spaces = st.dictionaries(
    st.sampled_from(["training.learning_rate", "training.momentum", "loss.a", "loss.sigma"]),
    ranges() | choices.map(lambda values: Choice(tuple(values))),
)


@settings(max_examples=25, deadline=None)
@given(spaces, st.integers(1, 12), st.integers(0, 12), st.integers(0, 2**31))
def test_points_stay_in_range_and_fewer_are_a_prefix(space, trials, more, seed):
    search = Search("random", trials, 1, seed)
    points = draw_points(search, space)
    assert draw_points(replace(search, trials=trials + more), space)[:trials] == points
    assert len(points) == trials
    for point in points:
        assert point.keys() == space.keys()
        for name, part in space.items():
            if isinstance(part, Range):
                assert part.low <= point[name] <= part.high
            else:
                assert point[name] in part.values


def test_a_value_does_not_depend_on_what_else_is_searched():
    one = draw_points(RANDOM, {"training.learning_rate": SPACE["training.learning_rate"]})
    reordered = dict(reversed(SPACE.items()))
    many = draw_points(RANDOM, reordered)
    rates = [point["training.learning_rate"] for point in one]
    assert rates == [point["training.learning_rate"] for point in many]
    assert rates != [
        p["training.learning_rate"] for p in draw_points(replace(RANDOM, seed=1), SPACE)
    ]


def test_values_spread_as_they_should():
    points = draw_points(replace(RANDOM, trials=400), SPACE)
    rates = np.log10([point["training.learning_rate"] for point in points])
    assert stats.kstest(rates, stats.uniform(-3, 1).cdf).pvalue > 0.01
    momenta = [point["training.momentum"] for point in points]
    assert stats.kstest(momenta, stats.uniform(0.95, 0.049).cdf).pvalue > 0.01
    counts = [[p["loss.a"] for p in points].count(a) for a in SPACE["loss.a"].values]
    assert stats.chisquare(counts).pvalue > 0.01
    assert abs(stats.spearmanr(rates, momenta).statistic) < 0.15


def test_a_grid_has_every_combination():
    space = {"training.learning_rate": Choice((1e-3, 1e-2)), "loss.a": Choice((0.3, 0.5, 0.7))}
    found = draw_points(Search("grid", 6, 1), space)
    expected = list(itertools.product((1e-3, 1e-2), (0.3, 0.5, 0.7)))
    assert [tuple(point.values()) for point in found] == expected
    with pytest.raises(ValueError, match=r"training\.learning_rate: a grid needs a list"):
        draw_points(Search("grid", 6, 1), SPACE)


def test_optuna_can_show_the_space():
    found = distributions_of({**SPACE, "loss.list": Choice(([1], [2]))})
    assert found == {
        "training.learning_rate": optuna.distributions.FloatDistribution(1e-3, 1e-2, log=True),
        "training.momentum": optuna.distributions.FloatDistribution(0.95, 0.999),
        "loss.a": optuna.distributions.CategoricalDistribution((0.3, 0.4, 0.6, 0.7)),
    }


def test_points_of_a_recipe(recipe):
    tiny = read_recipe(str(recipe))
    both = [points_of(tiny, tiny.variant(name), 9) for name in ("dice", "tversky")]
    assert [{k: v for k, v in p.items() if k != "loss.a"} for p in both[1]] == both[0]
    assert len({point["loss.a"] for point in both[1]}) > 1
    with pytest.raises(ValueError, match=r"dice-surgery\.n1: nothing is searched for it"):
        points_of(tiny, tiny.variant("dice-surgery.n1"))
    phantoms = read_recipe("phantoms")
    with pytest.raises(ValueError, match="trials: phantoms tries the 3 points of a grid, got 5"):
        points_of(phantoms, phantoms.variant("dice"), 5)
