"""Where each loss comes to rest on voxels that cannot be told apart (METHOD.md section 3).

Every set has one free logit, shared by its voxels; a share r of them is foreground. Rprop finds the
rest point: it follows only the sign of each logit's total field.
"""

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from gradsurge import make_loss
from gradsurge.calibration import posterior_from_equilibrium
from gradsurge.experiments import equilibria

VOXELS = 50
RATIOS = torch.arange(1, 50, dtype=torch.float64) / 50  # 0.02 ... 0.98
LABELS = (torch.arange(VOXELS) < (RATIOS * VOXELS).round().unsqueeze(1)).long()  # (sets, voxels)


def settle(loss: nn.Module, labels: Tensor, classes: int, steps: int = 400) -> Tensor:
    """Return the logits (classes, sets) at which the field vanishes.

    Labels (sets, voxels) of one sample, or (samples, sets, voxels).
    """
    labels = labels if labels.ndim == 3 else labels[None]
    if getattr(loss, "blend", 0.0) > 0.0:
        getattr(loss, "region", loss).meter.momentum = 0.0  # only the last step counts
    samples, sets, voxels = labels.shape
    z = torch.zeros(classes, sets, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.Rprop([z], lr=0.1, step_sizes=(1e-9, 1.0))
    for _ in range(steps):
        optimiser.zero_grad()
        loss(z.unsqueeze(0).unsqueeze(-1).expand(samples, -1, -1, voxels), labels).backward()
        optimiser.step()
    return z.detach()


def foreground(z: Tensor) -> Tensor:
    return torch.sigmoid(z[1] - z[0])


def shifted(r: Tensor, shift: float | Tensor) -> Tensor:
    return torch.sigmoid(torch.logit(r) + shift)


def soft_sums(p: Tensor) -> tuple[float, float, float]:
    y = LABELS.double()
    return float((p[:, None] * y).sum()), float(p.sum()) * VOXELS, float(y.sum())


def test_cross_entropy_rests_at_the_posterior():
    p = foreground(settle(make_loss("ce"), LABELS, 2))
    torch.testing.assert_close(p, RATIOS, atol=1e-3, rtol=0)


def test_dice_rests_at_zero_or_one():
    p = foreground(settle(make_loss("dice"), LABELS, 2))
    assert bool(((p < 0.01) | (p > 0.99)).all())
    assert bool((p < 0.01).any())
    assert bool((p > 0.99).any())


@pytest.mark.parametrize("share", [0.02, 0.1, 0.4])
def test_dice_surgery_of_a_network_that_sees_nothing_rests_at_its_closed_form(share):
    labels = (torch.arange(VOXELS) < round(share * VOXELS)).long()[None]  # they all look alike
    rest = {
        name: foreground(settle(make_loss(name, paper=True), labels, 2)).item()
        for name in ("dice", "dice-surgery", "ce", "ce+dice-surgery")
    }
    root = (1 + 4 * share - 4 * share**2) ** 0.5
    assert rest["dice-surgery"] == pytest.approx(
        (1 - 2 * share + root) / (4 * (1 - share)), abs=1e-4
    )
    assert rest["dice"] > 0.99
    assert rest["ce"] == pytest.approx(share, abs=1e-4)
    assert share < rest["ce+dice-surgery"] < rest["dice-surgery"]


def test_a_network_that_sees_nothing_of_a_rare_foreground():
    counts = torch.tensor([[992, 8]])
    names = "dice-surgery", "ce+dice-surgery"
    rest = [equilibria.settle(make_loss(name, paper=True), counts) for name in names]
    assert [round(s.probabilities[0, 1].item(), 3) for s in rest] == [0.504, 0.048]


@pytest.mark.parametrize("decline", [None, 20.0, 3.5])
def test_dice_surgery_rests_at_the_closed_form_and_is_corrected(decline):
    # Of one sample and one foreground both pulls are normalised alike, so nothing moves.
    loss = make_loss("dice-surgery", decline=decline, normalise=decline != 20.0)
    z = settle(loss, LABELS, 2)
    intersection, predicted, target = soft_sums(foreground(z))
    score = 2 * intersection / (predicted + target)
    expected = shifted(RATIOS, np.log((2 - score) / score))
    torch.testing.assert_close(foreground(z), expected, atol=1e-3, rtol=0)
    corrected = foreground(z - loss.equilibrium_shift().unsqueeze(1))
    torch.testing.assert_close(corrected, RATIOS, atol=1e-3, rtol=0)


@pytest.mark.parametrize("a", [0.3, 0.7])
def test_tversky_surgery_rests_at_the_closed_form_and_is_corrected(a):
    loss = make_loss("tversky-surgery", a=a, normalise=a == 0.3)
    z = settle(loss, LABELS, 2)
    i, p, y = soft_sums(foreground(z))
    score = i / (i + a * (p - i) + (1 - a) * (y - i))
    expected = shifted(RATIOS, np.log((1 - a * score) / (a * score)))
    torch.testing.assert_close(foreground(z), expected, atol=1e-3, rtol=0)
    corrected = foreground(z - loss.equilibrium_shift().unsqueeze(1))
    torch.testing.assert_close(corrected, RATIOS, atol=1e-3, rtol=0)


def test_jaccard_surgery_rests_at_the_closed_form():
    z = settle(make_loss("jaccard-surgery", paper=True), LABELS, 2)
    i, p, y = soft_sums(foreground(z))
    score = i / (p + y - i)
    torch.testing.assert_close(foreground(z), shifted(RATIOS, -np.log(score)), atol=1e-3, rtol=0)


def combo_rates(p: Tensor, weights: tuple[float, float], normalise: bool) -> tuple[float, float]:
    """Return the pulls on foreground and on background voxels of CE + Dice, from the formulas."""
    i, predicted, target = soft_sums(p)
    size = predicted + target
    of_ce = weights[0] / LABELS.numel()
    g_foreground, g_background = (2 * size - 2 * i) / size**2, 2 * i / size**2
    strength = weights[1] * 0.25 * (size / (2 * target) if normalise else 1.0)
    return of_ce + strength * g_foreground, of_ce + strength * g_background


@pytest.mark.parametrize(
    ("weights", "normalise"), [((0.5, 0.5), False), ((1.0, 0.2), False), ((1.0, 2.0), True)]
)
def test_ce_dice_surgery_rests_at_the_closed_form_and_is_corrected(weights, normalise):
    rule = {"decline": None, "scale": 0.25, "normalise": normalise}
    loss = make_loss("ce+dice-surgery", weights=weights, **rule)
    z = settle(loss, LABELS, 2)
    p = foreground(z)
    pull, push = combo_rates(p, weights, normalise)
    torch.testing.assert_close(p, shifted(RATIOS, np.log(pull / push)), atol=1e-3, rtol=0)
    corrected = foreground(z - loss.equilibrium_shift().unsqueeze(1))
    torch.testing.assert_close(corrected, RATIOS, atol=1e-3, rtol=0)


@pytest.mark.parametrize("normalise", [False, True])
def test_beside_cross_entropy_the_decline_belongs_into_the_correction(normalise):
    # The decline weakens the region part alone, so the simple shift is off near 0 and 1.
    loss = make_loss("ce+dice-surgery", paper=True, normalise=normalise)
    z = settle(loss, LABELS, 2)
    simple = foreground(z - loss.equilibrium_shift().unsqueeze(1))
    assert (simple - RATIOS).abs().max() > 2e-3
    region, cross_entropy, decline, _ = loss.equilibrium()
    r = posterior_from_equilibrium(z.softmax(0).unsqueeze(0), region[0], cross_entropy[0], decline)
    torch.testing.assert_close(r[0, 1], RATIOS, atol=1e-3, rtol=0)


def three_class_sets() -> tuple[Tensor, Tensor]:
    """Return true ratios (sets, 3) and labels (sets, voxels), all ratios at least 4 %."""
    counts = [(a, b, VOXELS - a - b) for a in range(2, 47, 6) for b in range(2, 49 - a, 6)]
    labels = torch.stack(
        [torch.repeat_interleave(torch.arange(3), torch.tensor(c)) for c in counts]
    )
    return torch.tensor(counts, dtype=torch.float64) / VOXELS, labels


def stationary(p: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Return r with r_t p_c A_tc in balance, from the null space of the rate matrix."""
    flow = rates * p[None, :]
    generator = flow - np.diag(flow.sum(axis=1))
    _, _, v = np.linalg.svd(generator.T)
    return v[-1] / v[-1].sum()


@pytest.mark.parametrize(("decline", "normalise"), [(None, True), (20.0, False)])
def test_three_classes_rest_at_the_stationary_distribution(decline, normalise):
    ratios, labels = three_class_sets()
    labels = labels[:-8]  # classes of different sizes are normalised differently
    ratios = ratios[:-8]
    loss = make_loss("dice-surgery", decline=decline, normalise=normalise)
    p = settle(loss, labels, 3, steps=1500).softmax(0)
    truth = nn.functional.one_hot(labels, 3).double()
    i = (p.T.unsqueeze(1) * truth).sum((0, 1))
    size = p.sum(1) * VOXELS + truth.sum((0, 1))
    push = (2 * i / size**2)[1:]  # on background voxels of a class
    pull = (2 * (size - i) / size**2)[1:]  # on its foreground voxels
    if normalise:
        push, pull = (g * (size / (2 * truth.sum((0, 1))))[1:] for g in (push, pull))
    push, pull = (torch.cat((torch.zeros(1, dtype=torch.float64), g)) for g in (push, pull))
    rates = ((push[None, :] + pull[:, None]) * (1 - torch.eye(3))).numpy()  # A_tc of the formulas
    for k, r in enumerate(ratios):
        np.testing.assert_allclose(stationary(p[:, k].numpy(), rates), r, atol=1e-3)
    measured = loss.equilibrium()
    corrected = posterior_from_equilibrium(p.unsqueeze(0), measured.region[0])
    torch.testing.assert_close(corrected[0].T, ratios, atol=1e-3, rtol=0)


@pytest.mark.parametrize("normalise", [False, True])
def test_three_classes_with_decline_and_cross_entropy_are_corrected(normalise):
    ratios, labels = three_class_sets()
    loss = make_loss("ce+dice-surgery", paper=True, normalise=normalise)
    p = settle(loss, labels, 3, steps=1500).softmax(0)
    region, cross_entropy, decline, _ = loss.equilibrium()
    corrected = posterior_from_equilibrium(p.unsqueeze(0), region[0], cross_entropy[0], decline)
    torch.testing.assert_close(corrected[0].T, ratios, atol=1e-3, rtol=0)


def test_sigmoid_channels_rest_at_their_own_shifts():
    loss = make_loss("dice-surgery", activation="sigmoid", normalise=True)
    labels = torch.stack((LABELS, LABELS.flip(0).roll(5, dims=0)))  # two overlapping structures
    ratios = labels.double().mean(-1)
    loss.meter.momentum = 0.0
    z = torch.zeros(1, 2, len(LABELS), 1, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.Rprop([z], lr=0.1, step_sizes=(1e-9, 1.0))
    for _ in range(400):
        optimiser.zero_grad()
        loss(z.expand(-1, -1, -1, VOXELS), labels[None]).backward()
        optimiser.step()
    corrected = torch.sigmoid(z.detach()[0, :, :, 0] - loss.equilibrium_shift().unsqueeze(1))
    torch.testing.assert_close(corrected, ratios, atol=1e-3, rtol=0)
