"""Lesions, volumes and posteriors against SciPy and plain loops."""

import numpy as np
import pytest
from scipy import ndimage, stats

from gradsurge.calibration.lesions import find_lesions
from gradsurge.experiments.study.lesion_tally import THRESHOLDS, LesionTally, over_thresholds
from gradsurge.experiments.study.posterior_tally import PosteriorTally
from gradsurge.experiments.study.volume_tally import VolumeTally, volume


def smooth(rng, shape):
    field = ndimage.gaussian_filter(rng.normal(size=shape), 1.2)
    return (field - field.min()) / np.ptp(field)


@pytest.mark.parametrize("shape", [(40, 31), (16, 13, 11)])
def test_thresholds_as_scipy_counts_them(shape):
    rng = np.random.default_rng(3)
    p, truth = smooth(rng, shape), smooth(rng, shape) > 0.7
    hits, false = over_thresholds(p, truth)
    corners = np.ones((3,) * len(shape))
    lesions, number = ndimage.label(truth, corners)
    assert number > 2
    for k, threshold in enumerate(THRESHOLDS):
        found = p > threshold
        detected = sum(found[lesions == i].any() for i in range(1, number + 1))
        pieces, count = ndimage.label(found, corners)
        wrong = sum(not truth[pieces == i].any() for i in range(1, count + 1))
        assert (hits[k], false[k]) == (detected, wrong)
    assert false.max() > 0


@pytest.mark.parametrize("value", [0.0, 1.0])
def test_thresholds_of_empty_maps_and_labels(value):
    p, empty = np.full((6, 7), value), np.zeros((6, 7), bool)
    hits, false = over_thresholds(p, empty)
    assert hits.tolist() == [0] * 19
    assert false.tolist() == [int(value)] * 19
    assert over_thresholds(p, ~empty)[0].tolist() == [int(value)] * 19


def test_sizes_have_quartiles_of_the_label_by_default():
    rng = np.random.default_rng(4)
    tally = LesionTally()
    truths = []
    for case in range(3):
        p, truth = smooth(rng, (40, 40)), smooth(rng, (40, 40)) > 0.7
        own = p > 0.2
        spacing = (2.0, 1.5)
        found = [find_lesions(p, truth, mask, spacing, case=str(case)) for mask in (p > 0.5, own)]
        tally.add(*found, p, truth)
        truths.append((p, own, *ndimage.label(truth, np.ones((3, 3)))))
    volumes = [3.0 * (pieces == i).sum() for *_, pieces, n in truths for i in range(1, n + 1)]
    rows = tally.sizes()
    borders = [0.0, *np.quantile(volumes, (0.25, 0.5, 0.75)), np.inf]
    assert [row["low"] for row in rows] == pytest.approx(borders[:-1])
    assert rows[-1]["high"] is None
    assert [row["count"] for row in rows] == np.histogram(volumes, borders)[0].tolist()
    means = [
        (1 - p[pieces == i].mean(), own[pieces == i].any())
        for p, own, pieces, n in truths
        for i in range(1, n + 1)
    ]
    for row in rows:
        inside = [
            m
            for m, v in zip(means, volumes, strict=True)
            if row["low"] <= v < (row["high"] or np.inf)
        ]
        assert row["ece"] == pytest.approx(np.mean([m for m, _ in inside]))
        assert row["own_detected"] == sum(hit for _, hit in inside)
    wide = tally.sizes((0.0, 1e9))
    assert [(row["low"], row["count"]) for row in wide] == [(0.0, len(volumes))]


def test_volumes_in_ml_and_square_centimetres():
    p = np.full((10, 10, 10), 0.25)
    assert volume(p, (1.0, 2.0, 3.0)) == pytest.approx(1.5)
    assert volume(p > 0.2, (1.0, 2.0, 3.0)) == pytest.approx(6.0)
    assert volume(p[0].astype(np.float32), (1.0, 2.0)) == pytest.approx(0.5)
    tally = VolumeTally()
    tally.add_masks(p > 0.2, p > 0.3, p > 0.1, (1.0, 1.0, 1.0))
    tally.add_expected("none", p, (1.0, 1.0, 1.0))
    assert (tally.true, tally.mask, tally.plain) == ([1.0], [0.0], [1.0])
    assert tally.expected == {"none": [0.25]}


def test_distances_to_the_posterior():
    rng = np.random.default_rng(0)
    p, q = (rng.dirichlet((1, 2, 3), size=(2, 40)).transpose(0, 2, 1) for _ in range(2))
    tally = PosteriorTally()
    for case in range(2):
        tally.add(p[case, 1:].astype(np.float32), q[case, 1:].astype(np.float32))
    found = tally.distances()
    gaps = p[:, 1:] - q[:, 1:]
    assert found["mean_abs"] == pytest.approx(np.abs(gaps).mean(), rel=1e-5)
    assert found["rms"] == pytest.approx(np.sqrt((gaps**2).mean()), rel=1e-5)
    assert found["kl"] == pytest.approx(stats.entropy(q, p, axis=1).mean(), rel=1e-5)
    assert PosteriorTally().distances() == {}


def test_sure_and_wrong_is_far_but_not_infinitely():
    tally = PosteriorTally()
    tally.add(np.array([[0.0, 1.0]]), np.array([[1.0, 1.0]]))
    assert tally.distances()["kl"] == pytest.approx(24 * np.log(2) / 2)
