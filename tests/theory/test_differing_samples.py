"""Where surgery comes to rest when samples differ, as patches with large and with tiny lesions do.

Dice per sample pulls differently in each sample. Voxels that look alike in all of them share one
logit, so they rest at a mixture; its shift is that of the voxels in doubt, not of all voxels.
"""

import math

import pytest
import torch
from torch import Tensor

from gradsurge import Surgery, make_loss

SURE_BACKGROUND, SURE_LESION, DOUBTFUL = 0, 1, range(2, 11)  # r = 0.1, ..., 0.9 of the doubtful
SETS = 11
LARGE = {SURE_BACKGROUND: (5000, 5), SURE_LESION: (5, 2000)}
TINY = {SURE_BACKGROUND: (7000, 5), SURE_LESION: (0, 20)}
NONE = {SURE_BACKGROUND: (7000, 0)} | dict.fromkeys(DOUBTFUL, (6, 0))


def with_doubt(sample: dict[int, tuple[int, int]], voxels: int) -> dict[int, tuple[int, int]]:
    """Return the sample with so many voxels in each doubtful set: (background, lesion)."""
    lesion = {k: voxels * (k - 1) // 10 for k in DOUBTFUL}
    return sample | {k: (voxels - n, n) for k, n in lesion.items()}


SAMPLES = {
    "alike": [with_doubt(LARGE, 50), with_doubt(LARGE, 50)],
    "large and tiny": [with_doubt(LARGE, 50), with_doubt(TINY, 20)],
    "large, tiny and none": [with_doubt(LARGE, 50), with_doubt(TINY, 20), NONE],
}


def voxels_of(samples: list[dict[int, tuple[int, int]]]) -> tuple[Tensor, Tensor]:
    """Return set and label of every voxel, (N, V), filled up with sure background."""
    rows = []
    for sample in samples:
        pairs = [(k, y) for k, counts in sample.items() for y in (0, 1) for _ in range(counts[y])]
        rows.append(torch.tensor(pairs))
    longest = max(len(row) for row in rows)
    filled = [torch.cat((row, torch.zeros(longest - len(row), 2).long())) for row in rows]
    return torch.stack(filled).unbind(-1)


def settle(loss, sets: Tensor, labels: Tensor) -> Tensor:
    """Return the logit gap of each set at rest."""
    loss.meter.momentum = 0.0  # only the last step counts
    z = torch.zeros(SETS, 2, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.Rprop([z], lr=0.1, step_sizes=(1e-9, 0.5))
    for _ in range(600):
        optimiser.zero_grad()
        loss(z[sets].movedim(-1, 1), labels).backward()
        optimiser.step()
    return (z[:, 1] - z[:, 0]).detach()


def wrapped_dice() -> Surgery:
    def dice(p: Tensor, y: Tensor) -> Tensor:
        score = (2 * (p * y).sum(-1) + 1e-5) / ((p + y).sum(-1) + 1e-5)
        return (1 - score[:, 1]).mean()

    return Surgery(dice)


def nll(logits: Tensor, labels: Tensor) -> float:
    return torch.nn.functional.binary_cross_entropy_with_logits(logits, labels.double()).item()


@pytest.mark.parametrize("make", [lambda: make_loss("dice-surgery"), wrapped_dice])
@pytest.mark.parametrize("name", SAMPLES)
def test_the_closed_form_is_the_best_bias_there_is(name, make):
    sets, labels = voxels_of(SAMPLES[name])
    loss = make()
    gap = settle(loss, sets, labels)[sets]
    shift = float(loss.equilibrium_shift()[1])
    best = min(nll(gap - b, labels) for b in torch.linspace(-2, 2, 401).tolist())
    assert nll(gap - shift, labels) <= best * (1 + 1e-4)
    assert nll(gap, labels) > nll(gap - shift, labels)


def test_at_rest_it_is_the_ratio_of_false_positives_to_missed():
    sets, labels = voxels_of(SAMPLES["large, tiny and none"])
    loss = make_loss("dice-surgery")
    p, y = settle(loss, sets, labels)[sets].sigmoid(), labels.double()
    ratio = (p * (1 - y)).sum() / ((1 - p) * y).sum()
    assert float(loss.equilibrium_shift()[1]) == pytest.approx(math.log(ratio), abs=1e-3)
