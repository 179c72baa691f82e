"""Where normalised surgery comes to rest in samples that differ: the formulas with κG for G.

Of class t a set has ``of_sets[k][t]`` times ``of_samples[t][n]`` voxels in sample n, so each set is
spread over the samples alike, and one correction is right for all of them.
"""

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from gradsurge import make_loss
from gradsurge.calibration import posterior_from_equilibrium
from tests.theory.test_equilibria import foreground, settle, stationary

IGNORED = 255
# Samples with much foreground and with little, and one without any.
TWO = [(3, 1), (2, 2), (1, 3), (1, 5), (9, 1)], [(10, 4, 1, 7), (1, 2, 6, 0)]
THREE = [(3, 1, 1), (1, 2, 2), (2, 1, 4), (1, 4, 1)], [(9, 3, 1, 4), (1, 2, 6, 1), (1, 1, 2, 0)]
CASES = {
    "dice-surgery": {},
    "ce+dice-surgery": {"weights": (1.0, 8.0)},
}


def spread(of_sets: list[tuple[int, ...]], of_samples: list[tuple[int, ...]]) -> Tensor:
    """Return labels (samples, sets, voxels), filled up with voxels that do not count."""
    rows = []
    for n in range(len(of_samples[0])):
        for shares in of_sets:
            counts = [share * size[n] for share, size in zip(shares, of_samples, strict=True)]
            rows.append([t for t, count in enumerate(counts) for _ in range(count)])
    longest = max(map(len, rows))
    filled = torch.tensor([row + [IGNORED] * (longest - len(row)) for row in rows])
    return filled.view(len(of_samples[0]), len(of_sets), longest)


def ratios_of(labels: Tensor, classes: int) -> Tensor:
    """Return the share of each class in each set, over all samples, (sets, classes)."""
    counts = torch.stack([(labels == t).sum((0, 2)) for t in range(classes)], dim=1).double()
    return counts / counts.sum(1, keepdim=True)


def rates_of_dice(p: Tensor, labels: Tensor, normalise: bool) -> Tensor:
    """Return A_tc, the mean over the voxels of class t, from the formulas; p (sets, classes)."""
    classes = p.shape[1]
    valid = labels != IGNORED
    y = F.one_hot(labels * valid, classes) * valid.unsqueeze(-1)
    voxels = y.sum((1, 2)).double()  # (samples, classes)
    of_p = (p.unsqueeze(0) * valid.sum(2).unsqueeze(-1)).sum(1)
    i = (p.unsqueeze(0) * y.sum(2)).sum(1)
    size = of_p + voxels + 1e-5
    push, pull = (2 * i + 1e-5) / size**2, (2 * size - 2 * i - 1e-5) / size**2
    if normalise:
        factor = torch.where(voxels > 0, (of_p + voxels) / (2 * voxels), 1.0)
        push, pull = push * factor, pull * factor
    push[:, 0] = pull[:, 0] = 0.0
    rates = (pull.unsqueeze(2) + push.unsqueeze(1)) / (len(labels) * (classes - 1))  # (n, t, c)
    rates = (rates * voxels.unsqueeze(2)).sum(0) / voxels.sum(0).unsqueeze(1)
    return rates * (1 - torch.eye(classes))


@pytest.mark.parametrize("name", list(CASES))
@pytest.mark.parametrize("sets", [TWO, THREE], ids=["two", "three"])
def test_samples_that_differ_rest_where_the_normalised_pulls_balance(name, sets):
    labels, classes = spread(*sets), len(sets[1])
    ratios, options = ratios_of(labels, classes), CASES[name]
    rule = {"decline": None, "scale": 0.5, "normalise": True}
    loss = make_loss(name, ignore_index=IGNORED, **rule, **options)
    z = settle(loss, labels, classes, steps=1000)
    p = z.softmax(0).T
    of_ce, of_region = options.get("weights", (0.0, 1.0))
    of_ce = of_ce / int((labels != IGNORED).sum())

    def rest(normalise: bool) -> np.ndarray:
        rates = of_region * 0.5 * rates_of_dice(p, labels, normalise)
        rates = (rates + of_ce * (1 - torch.eye(classes))).numpy()
        return np.stack([stationary(row.numpy(), rates) for row in p])

    np.testing.assert_allclose(rest(normalise=True), ratios, atol=1e-3)
    assert abs(rest(normalise=False) - ratios.numpy()).max() > 0.02  # the factor shows
    measured = loss.equilibrium()
    corrected = posterior_from_equilibrium(
        z.unsqueeze(0).softmax(1), measured.region[0], measured.cross_entropy[0]
    )
    torch.testing.assert_close(corrected[0].T, ratios, atol=1e-3, rtol=0)
    if classes == 2:
        shift = loss.equilibrium_shift().unsqueeze(1)
        torch.testing.assert_close(foreground(z - shift), ratios[:, 1], atol=1e-3, rtol=0)


def test_the_decline_beside_cross_entropy_is_corrected_in_samples_that_differ():
    labels = spread(*TWO)
    rule = {"decline": 20.0, "scale": 0.5, "normalise": True}
    loss = make_loss("ce+dice-surgery", ignore_index=IGNORED, weights=(1.0, 1.0), **rule)
    p = settle(loss, labels, 2).softmax(0).unsqueeze(0)
    region, cross_entropy, decline, _ = loss.equilibrium()
    corrected = posterior_from_equilibrium(p, region[0], cross_entropy[0], decline)
    torch.testing.assert_close(corrected[0].T, ratios_of(labels, 2), atol=2e-3, rtol=0)
