"""The simulation behind the demo: where losses leave voxels that nobody can tell apart."""

import math

import pytest
import torch

from gradsurge.experiments.equilibria import COMPARED, RATIOS, Comparison, compare, settle
from gradsurge.experiments.probe import LARGE, SMALL, probe_field
from gradsurge.losses import make_loss


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare()


def largest_error(p, r):
    return float((p - r).abs().max())


def test_cross_entropy_ends_at_the_true_share(comparison):
    assert largest_error(comparison.columns()["ce"], comparison.ratios) < 1e-3


def test_dice_ends_at_zero_or_one(comparison):
    p = comparison.columns()["dice"]
    assert float(torch.minimum(p, 1 - p).max()) < 1e-2
    assert 0 < int((p > 0.5).sum()) < len(p)


def test_surgery_ends_at_the_closed_form(comparison):
    settled = comparison.settled["dice-surgery"]
    score = 1 - settled.loss
    expected = torch.sigmoid(comparison.ratios.logit() + math.log((2 - score) / score))
    assert largest_error(settled.probabilities[:, 1], expected) < 1e-3


def test_corrected_surgery_ends_at_the_true_share(comparison):
    assert largest_error(comparison.columns()["corrected"], comparison.ratios) < 1e-3


def test_errors_are_the_means_of_the_columns(comparison):
    errors = comparison.errors()
    assert list(errors) == [*COMPARED, "corrected"]
    assert errors["corrected"] < 1e-3 < errors["dice-surgery"] < errors["dice"]


def test_a_loss_without_surgery_has_no_shift(comparison):
    assert comparison.settled["dice"].shift.tolist() == [0.0, 0.0]
    assert comparison.settled["ce"].corrected.equal(comparison.settled["ce"].probabilities)


def test_hard_statistics_put_the_threshold_at_half_the_best_dice(comparison):
    r = comparison.ratios
    counts = comparison.settled["ce"].counts
    best = max(float(2 * r[k:].sum() / (r.sum() + len(r) - k)) for k in range(len(r)))
    thresholds = {}
    for hard in (False, True):
        settled = settle(make_loss("dice-surgery", hard_statistics=hard), counts)
        thresholds[hard] = float(torch.sigmoid(-settled.shift[1]))  # the r at which p = 0.5
    print(f"half the best Dice {best / 2:.4f}, p = 0.5 at r =", thresholds)
    assert thresholds[True] == pytest.approx(best / 2, abs=1e-4)
    assert thresholds[False] < best / 2 - 0.01  # the soft score is lower, so is its half


def test_three_classes_beside_background_are_corrected_each_by_its_own_shift():
    counts = torch.tensor([[40, 10, 0], [25, 25, 0], [5, 45, 0], [45, 0, 5], [30, 0, 20]])
    settled = settle(make_loss("dice-surgery"), counts)
    assert settled.shift[0] == 0.0
    assert settled.shift[1] != pytest.approx(float(settled.shift[2]), abs=1e-2)
    assert largest_error(settled.corrected, settled.ratios) < 1e-3


def test_every_step_is_reported():
    calls = []
    settle(make_loss("ce"), torch.tensor([[1, 1]]), steps=7, on_step=lambda: calls.append(1))
    assert len(calls) == 7


def test_ratios_span_the_range_and_are_exact_shares():
    assert RATIOS[0] == 0.02
    assert RATIOS[-1] == 0.98
    assert len(RATIOS) == 25


def test_probe_field_does_not_depend_on_the_other_settings():
    p = torch.tensor([[0.2, 0.7], [0.5, 0.1], [0.9, 0.9]], dtype=torch.float64)
    for name in ("ce", "dice", "ce+dice-surgery"):
        loss = make_loss(name)
        together = probe_field(loss, SMALL, p, (1, 0))
        alone = torch.cat([probe_field(loss, SMALL, row[None], (1, 0)) for row in p])
        torch.testing.assert_close(together, alone)


def test_one_voxel_hardly_moves_the_large_example():
    p = torch.tensor([[1e-3], [0.999]], dtype=torch.float64)
    slope = probe_field(make_loss("dice"), LARGE, p, (1,)) / (p * (1 - p))
    assert float(slope[1] / slope[0]) == pytest.approx(1, abs=0.01)
