"""Counts against plain loops, and the first cursor against what is there."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from gradsurge.experiments.viewing.amounts import STEPS, amounts_of, counts_above
from gradsurge.experiments.viewing.case_view import CaseView, ModelView
from gradsurge.experiments.viewing.laid_out import lay_out
from gradsurge.experiments.viewing.opening import first_cursor
from gradsurge.experiments.viewing.structure import (
    Structure,
    exclusive,
    is_one_of,
    structures_of_map,
)

SHAPE = (5, 6, 4)


def view(label=None, mask=None, maps=None, structures=None):
    structures = structures or (Structure("lesion", 0, (1,), (1,)),)
    model = ModelView("m", maps, mask, structures)
    return CaseView("a", lay_out(SHAPE, np.eye(4)), None, label, "", (model,))


@given(arrays(np.float32, (30,), elements=st.floats(0, 1, width=32)))
def test_counts_above_every_threshold(values):
    found = counts_above(values)
    for n in range(STEPS + 1):
        assert found[n] == sum(v >= np.float32(n / STEPS) for v in values)


def test_amounts_against_loops():
    rng = np.random.default_rng(1)
    label, mask = (rng.integers(0, 3, SHAPE).astype(np.uint8) for _ in range(2))
    maps = rng.random((3, *SHAPE))
    maps = (maps / maps.sum(0)).astype(np.float32)
    one = view(label, mask, maps, exclusive(["anterior", "posterior"]))
    for structure, numbers in zip(one.structures, ({1, 2}, {1}, {2}), strict=True):
        found = amounts_of(one, one.models[0], structure)
        triples = list(zip(label.flat, mask.flat, maps.reshape(3, -1).T, strict=True))
        p = [1 - t[2][0] if len(numbers) == 2 else t[2][min(numbers)] for t in triples]
        assert found.label == sum(t[0] in numbers for t in triples)
        assert found.mask == sum(t[1] in numbers for t in triples)
        assert found.mask_hits == sum(t[0] in numbers and t[1] in numbers for t in triples)
        assert found.expected == pytest.approx(sum(map(float, p)), rel=1e-6)
        pairs = zip(p, triples, strict=True)
        assert found.hits[40] == sum(q >= np.float32(0.4) and t[0] in numbers for q, t in pairs)


def test_what_is_not_there_is_not_counted():
    alone = view()
    found = amounts_of(alone, alone.models[0], alone.structures[0])
    assert found.label is found.mask is found.mask_hits is found.expected is found.above is None


def test_the_rest_of_the_background_is_never_negative():
    maps = np.stack([np.full(SHAPE, 1.0000001, np.float32), np.zeros(SHAPE, np.float32)])
    assert exclusive(["a", "b"])[0].probability(maps).min() == 0.0


def test_maps_of_which_nobody_told_anything():
    rng = np.random.default_rng(0)
    maps = rng.random((3, *SHAPE))
    assert [s.name for s in structures_of_map(maps)] == ["channel 0", "channel 1", "channel 2"]
    names = [s.name for s in structures_of_map(maps / maps.sum(0))]
    assert names == ["any structure", "class 1", "class 2"]
    (alone,) = structures_of_map(maps[:1])
    assert (alone.label_numbers, is_one_of(np.array([0, 3]), None).tolist()) == (
        None,
        [False, True],
    )


def test_the_cursor_starts_in_the_fullest_slice():
    label = np.zeros(SHAPE, np.uint8)
    label[1, 1, 0] = 1
    label[2:4, 2:5, 2] = 1
    x, y, z = first_cursor(view(label))
    assert z == 2
    assert label[x, y, z] == 1


def test_the_cursor_without_label_and_with_nothing():
    mask = np.zeros(SHAPE, np.uint8)
    mask[4, 5, 3] = 1
    assert first_cursor(view(np.zeros(SHAPE, np.uint8), mask)) == (4, 5, 3)
    p = np.zeros((1, *SHAPE), np.float32)
    p[0, 1, 2, 3] = 0.2
    assert first_cursor(view(maps=p)) == (1, 2, 3)
    assert first_cursor(view(maps=np.zeros((1, *SHAPE), np.float32))) == (2, 3, 2)
