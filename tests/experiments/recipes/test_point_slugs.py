"""Slugs: one a point, safe on any file system."""

import itertools
import re
from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradsurge.experiments.recipes import point_slug
from gradsurge.experiments.recipes.point_slugs import _short
from gradsurge.losses import LOSSES
from gradsurge.losses.catalogue import _REGION, _SURGERY_OPTIONS, _VOXEL, _names
from gradsurge.training import TrainSettings

KINDS = (*_REGION.values(), *_VOXEL.values())
NAMES = sorted(
    {f"training.{field.name}" for field in fields(TrainSettings)}
    | {f"loss.{name}" for kind in KINDS for name in _names(kind) | _SURGERY_OPTIONS | {"weights"}}
)
NUMBERS = st.floats(allow_nan=False) | st.integers(-(10**30), 10**30)
ALIKE = [1, 1.0, "1", True, "true", None, "none", "a", "A", "a_b", "a-b", "~41.", "", 10, 0.1, -1]
VALUES = NUMBERS | st.text(max_size=30) | st.sampled_from(ALIKE)
POINTS = st.dictionaries(st.sampled_from(NAMES), VALUES | st.lists(VALUES, max_size=3), max_size=5)


def canonical(point):
    """A point as a set of facts; True is not 1, and no seed is seed 0."""

    def typed(value):
        if isinstance(value, list):
            return tuple(map(typed, value))
        return isinstance(value, bool), value

    return {name: typed(value) for name, value in {"training.seed": 0, **point}.items()}


def seeded(points):
    return st.builds(lambda p, seed: {**p, "training.seed": seed}, points, st.integers(0, 2**40))


@given(seeded(POINTS), seeded(POINTS))
def test_other_points_have_other_slugs(one, other):
    assert (point_slug(one) == point_slug(other)) == (canonical(one) == canonical(other))


@pytest.mark.parametrize("name", ["loss.a", "training.clip", "training.learning_rate"])
@pytest.mark.parametrize("wrap", [lambda value: value, lambda value: [value]])
def test_values_that_look_alike_are_told_apart(name, wrap):
    points = [{name: wrap(value)} for value in ALIKE] + [{name: ["1", 1]}, {name: [1, "1"]}]
    for one, other in itertools.product(points, repeat=2):
        assert (point_slug(one) == point_slug(other)) == (canonical(one) == canonical(other))


@given(seeded(POINTS), st.randoms())
def test_the_order_does_not_matter(point, random):
    names = list(point)
    random.shuffle(names)
    assert point_slug({name: point[name] for name in names}) == point_slug(point)


@given(POINTS)
def test_slugs_are_safe(point):
    slug = point_slug({name: value for name, value in point.items() if name != "training.seed"})
    assert re.fullmatch(r"[a-z0-9][a-z0-9.,=~+_-]*", slug)
    assert len(slug.encode()) <= 100


def test_short_names_are_told_apart():
    """What a recipe can search is 'training.' or 'loss.' and a name; no two look alike."""
    assert len({_short(name) for name in NAMES}) == len(NAMES)
    assert len(LOSSES) > 13
    assert "loss.a" in NAMES


@pytest.mark.parametrize(
    ("point", "slug"),
    [
        ({"training.learning_rate": 0.003}, "lr0.003"),
        ({"training.learning_rate": 0.003, "training.seed": 1}, "lr0.003_seed1"),
        ({"training.learning_rate": 0.003, "training.seed": 0}, "lr0.003"),
        ({"loss.sigma": 2, "training.learning_rate": 1e-6}, "lr1e-06_sigma2"),
        ({"training.optimiser": "adamw", "training.weight_decay": 1.0}, "wd1_optimiser=adamw"),
        ({}, "fixed"),
        ({"training.seed": 2}, "fixed_seed2"),
    ],
)
def test_slugs_are_readable(point, slug):
    assert point_slug(point) == slug
