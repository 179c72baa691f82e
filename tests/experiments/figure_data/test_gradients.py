"""Figure 2's data against closed forms, and where it looks."""

import math

import numpy as np
import pytest
import torch

from gradsurge.experiments.figure_data.gradients import LOSSES, fields_on_logits, logit_gradients
from gradsurge.experiments.runs import RunRequest, plan_run
from tests.experiments.runs.stores import disc_store


def binary_config(tmp_path, **options):
    return plan_run(disc_store(tmp_path, **options), RunRequest("dice"))


def dice_slope(p, y, smooth=1e-5):
    """dL/dp of the Dice loss, written out."""
    size = p.sum() + y.sum() + smooth
    return -(2 * y * size - (2 * (p * y).sum() + smooth)) / size**2


def test_binary_fields_are_their_closed_forms(tmp_path):
    config = binary_config(tmp_path)
    rng = np.random.default_rng(0)
    z, label = rng.normal(0, 3, (2, 6, 5)), rng.integers(0, 2, (6, 5))
    fields = fields_on_logits(config, torch.from_numpy(z), torch.from_numpy(label).byte())
    p = 1 / (1 + np.exp(z[0] - z[1]))
    e = np.abs(label - p)
    slope = dice_slope(p, label)
    expected = {
        "Dice": p * (1 - p) * slope,
        "CE": (p - label) / label.size,
        "Dice surgery": 0.25 * e * (1 - e**20) * (1 - (1 - e) ** 20) * slope,
        "surgery, no decline": 0.25 * e * slope,
    }
    assert list(fields) == list(expected) == list(LOSSES)
    for name, field in expected.items():
        np.testing.assert_allclose(fields[name][1], field, rtol=1e-6, err_msg=name)
        np.testing.assert_allclose(fields[name][0], -field, rtol=1e-6, err_msg=name)


def test_unknown_voxels_are_not_pulled_at(tmp_path):
    config = binary_config(tmp_path, ignore=True)
    label = torch.randint(0, 2, (6, 5)).byte()
    label[:, 2] = 2
    fields = fields_on_logits(config, torch.randn(2, 6, 5), label)
    for name, field in fields.items():
        assert not field[:, :, 2].any(), name
        assert field[:, :, :2].any(), name


def test_regions_are_pulled_at_one_by_one(tmp_path):
    config = binary_config(tmp_path, classes=2, regions=True)
    z = torch.randn(2, 6, 5, dtype=torch.float64)
    label = torch.randint(0, 3, (6, 5)).byte()
    fields = fields_on_logits(config, z, label)
    whole, core = (label > 0).numpy(), (label == 2).numpy()
    for k, y in enumerate((whole, core)):
        p = z[k].sigmoid().numpy()
        dice = p * (1 - p) * dice_slope(p, y.astype(float)) / 2  # the mean of two regions
        np.testing.assert_allclose(fields["Dice"][k], dice, rtol=1e-6)


def test_of_a_run_the_worst_slice_of_the_worst_case_is_shown(volumes):
    heard = []
    data = logit_gradients(volumes.dice, on_case=heard.append)
    test = volumes.store.splits["test"]
    assert heard[: len(test)] == test
    counts = {}
    for case in test:
        p = volumes.dice.logits(case).softmax(0)[1].numpy()
        label = volumes.store.case(case).read_label()
        wrong = np.abs((label == 1) - p) >= 0.9
        counts[case] = wrong.sum(axis=(0, 1))  # the last axis is cut across
    worst = max(test, key=lambda case: counts[case].sum())
    assert data.shown.case == worst
    if counts[worst].any():
        assert data.shown.cut.at == counts[worst].argmax()
    else:
        assert all(map(math.isnan, data.at_confident_errors.values()))


def test_shares_are_of_the_largest_pull_in_the_case(volumes):
    case = volumes.store.splits["test"][0]
    data = logit_gradients(volumes.dice, case, number=5)
    assert data.shown.cut.title == "slice 5 of 16"
    logits = volumes.dice.logits(case)
    label = torch.from_numpy(volumes.store.case(case).read_label())
    field = fields_on_logits(volumes.dice.run.config, logits, label)["CE"][1].abs()
    expected = np.rot90((field / field.max())[..., 4].numpy())
    np.testing.assert_allclose(data.pulls["CE"], expected, rtol=1e-6)
    p = logits.softmax(0)[1]
    np.testing.assert_allclose(data.probability, np.rot90(p[..., 4].numpy()), rtol=1e-6)
    sure = ((label == 1).float() - p).abs() >= 0.9
    found = data.at_confident_errors["CE"]
    if sure.any():
        assert found == pytest.approx((field / field.max())[sure].mean().item(), rel=1e-5)
    else:
        assert math.isnan(found)


@pytest.mark.parametrize(
    ("wishes", "words"),
    [
        ({"case": "nobody"}, "has no 'nobody'"),
        ({"number": 17}, "slice: expected a number from 1 to 16, got 17"),
        ({"number": 0}, "slice: expected a number from 1 to 16, got 0"),
        ({"structure": "spleen"}, "no 'spleen' here; there are: lesion"),
    ],
)
def test_what_is_not_there_is_said(volumes, wishes, words):
    case = volumes.store.splits["test"][0]
    with pytest.raises(ValueError, match=words):
        logit_gradients(volumes.dice, **{"case": case, **wishes})
