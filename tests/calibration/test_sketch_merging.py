"""Sketches add up: in any order, by any number of threads, at any size."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gradsurge.calibration import CalibrationSketch, filling, sketch, sketch_file
from tests.calibration.definitions import hard_pairs

COUNTED = ("counts", "edges", "tails", "clipped", "joint_clipped", "kind", "classes", "resolution")
SCORES = ("nll", "brier", "ece", "ace", "mce", "class_wise_ece", "sharpness", "auroc", "dice_at")


def assert_same(one, other, tolerance=1e-12):
    """Counts are equal; sums are within a share ``tolerance`` of the largest of their kind."""
    mine, others = sketch_file.to_arrays(one), sketch_file.to_arrays(other)
    for name in mine:
        if name in COUNTED:
            np.testing.assert_array_equal(mine[name], others[name], name)
        else:
            scale = np.abs(mine[name]).max(initial=0)
            np.testing.assert_allclose(
                mine[name], others[name], rtol=0, atol=tolerance * scale, err_msg=name
            )


def batch(kind, seed, voxels=30):
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn(2, 3, voxels, generator=generator) * 5
    if kind == "binary":
        return logits[:, :2], torch.randint(0, 2, (2, voxels), generator=generator)
    if kind == "multiclass":
        return logits, torch.randint(0, 3, (2, voxels), generator=generator)
    return logits, torch.rand(2, 3, voxels, generator=generator) < 0.3


def empty(kind):
    return CalibrationSketch(kind, None if kind == "binary" else 3)


@settings(max_examples=15, deadline=None)
@given(
    kind=st.sampled_from(sketch.KINDS),
    seeds=st.lists(st.integers(0, 10**6), min_size=1, max_size=4),
    data=st.data(),
)
def test_merged_is_the_sketch_of_the_concatenation(kind, seeds, data):
    batches = [batch(kind, seed) for seed in seeds]
    parts = [empty(kind).update_logits(*b) for b in batches]
    z, y = (torch.cat(values) for values in zip(*batches, strict=True))
    whole = empty(kind).update_logits(z, y)
    assert_same(sum(parts), whole)
    assert_same(sum(data.draw(st.permutations(parts))), whole)


@settings(max_examples=25, deadline=None)
@given(one=hard_pairs(), other=hard_pairs())
def test_merging_hard_probabilities(one, other):
    parts = [CalibrationSketch().update_probabilities(*pairs) for pairs in (one, other)]
    p = np.concatenate([one[0].astype(float), other[0].astype(float)])
    whole = CalibrationSketch().update_probabilities(p, np.concatenate((one[1], other[1])))
    assert_same(parts[0] + parts[1], whole)
    assert parts[0] + parts[1] == parts[1] + parts[0]


@pytest.mark.parametrize("kind", sketch.KINDS)
def test_forms_of_adding(kind):
    a, b = (empty(kind).update_logits(*batch(kind, seed)) for seed in (1, 2))
    before = empty(kind).update_logits(*batch(kind, 1))
    total = a + b
    assert a == before  # the parts stay as they were
    assert sum([a, b]) == total
    assert a + empty(kind) == a == empty(kind) + a
    assert total != a
    same = a
    same += b
    assert same is a
    assert a == total
    assert before.update_logits(*batch(kind, 2)).voxels == total.voxels


def test_a_sum_shares_nothing_with_its_parts():
    a = CalibrationSketch().update_probabilities(np.array([0.3]), [1])
    total = a + CalibrationSketch()
    total.update_probabilities(np.array([0.6]), [0])
    assert (a.voxels, total.voxels) == (1, 2)


def test_what_does_not_add_up():
    with pytest.raises(ValueError, match="binary of 2 classes and multiclass of 3"):
        CalibrationSketch() + CalibrationSketch("multiclass", 3)
    with pytest.raises(ValueError, match="different resolutions do not add up: 25200 and 1000"):
        CalibrationSketch() + CalibrationSketch(resolution=1000)
    for other in (1, "sketch", None):
        with pytest.raises(TypeError):
            CalibrationSketch() + other
    assert CalibrationSketch() != 0


@pytest.mark.parametrize("kind", sketch.KINDS)
def test_ten_billion_voxels_lose_nothing(kind):
    small = empty(kind).update_logits(*batch(kind, 0))
    large = small
    for _ in range(34):
        large = large + large
    assert large.voxels == small.voxels * 2**34 > 10**11
    np.testing.assert_array_equal(large.histograms[0].counts, small.histograms[0].counts << 34)
    for name in SCORES:
        assert getattr(large, name)() == pytest.approx(getattr(small, name)(), rel=1e-12), name
    precision, same = large.average_precision(), small.average_precision()
    assert precision == pytest.approx(same, rel=1e-12)
    # More pairs in a cell can be in more orders: the bound may move, the truth stays within it.
    assert abs(precision - same) <= precision.error + 1e-12
    mass = large.equal_mass_ece()
    assert mass == pytest.approx(small.equal_mass_ece(), rel=1e-9)


@pytest.fixture
def threads():
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


@pytest.mark.parametrize("kind", sketch.KINDS)
@pytest.mark.parametrize("method", ["update_logits", "update_probabilities"])
def test_the_number_of_threads_does_not_change_a_bit(kind, method, threads, monkeypatch):
    z, y = batch(kind, 3, voxels=40_000)  # torch divides sums of more than 32768 among threads
    if method == "update_probabilities":
        z = z.softmax(1) if kind != "multilabel" else z.sigmoid()
    for block in (filling.PART, 1 << 13):  # one block; more blocks than are in flight at once
        monkeypatch.setattr(filling, "PART", block)
        found = []
        for number in (1, 2):
            threads(number)
            found.append(getattr(empty(kind), method)(z, y))
        assert found[0] == found[1]


def test_chunks_do_not_matter(monkeypatch):
    z, y = batch("multiclass", 4)
    mask = torch.rand(2, 30) < 0.7
    whole = empty("multiclass").update_logits(z, y, mask)
    monkeypatch.setattr(sketch, "_CHUNK", 7)
    assert_same(empty("multiclass").update_logits(z, y, mask), whole)
