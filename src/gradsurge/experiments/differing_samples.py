"""Where surgery comes to rest when samples differ, as patches with large and with tiny lesions do.

Dice per sample pulls differently in each sample. Voxels that look alike in all of them share one
logit, so they rest at a mixture. Its shift is about that of the voxels in doubt, not of all voxels:
``python -m gradsurge.experiments.differing_samples`` prints both beside the best there is.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from scipy.optimize import minimize_scalar
from torch import Tensor

from gradsurge.losses import make_loss

Sample = Mapping[int, tuple[int, int]]
"""Background and lesion voxels of each set of voxels that look alike."""

BACKGROUND, LESION, DOUBTFUL = 0, 1, range(2, 11)  # r = 0.1, ..., 0.9 with lesions about
SETS = 11


def _with_doubt(sample: Sample, voxels: int) -> Sample:
    """Return the sample with so many voxels in each doubtful set."""
    lesion = {k: voxels * (k - 1) // 10 for k in DOUBTFUL}
    return {**sample, **{k: (voxels - n, n) for k, n in lesion.items()}}


def _every_second(sample: Sample, first: int) -> Sample:
    """Return the sample with every second doubtful set, from ``first`` on."""
    kept = DOUBTFUL[first::2]
    return {k: n for k, n in sample.items() if k not in DOUBTFUL or k in kept}


LARGE = _with_doubt({BACKGROUND: (2000, 2), LESION: (2, 800)}, 20)
TINY = _with_doubt({BACKGROUND: (2800, 2), LESION: (0, 8)}, 10)
NOTHING: Sample = {BACKGROUND: (2800, 0), **dict.fromkeys(DOUBTFUL, (3, 0))}
BATCHES: Mapping[str, Sequence[Sample]] = {
    "large and large": (LARGE, LARGE),
    "large and tiny": (LARGE, TINY),
    "large, tiny and none": (LARGE, TINY, NOTHING),
    "doubts apart": (
        _every_second(LARGE, 0),
        _every_second(TINY, 1),
    ),  # no doubtful set occurs in both
}


@dataclass(frozen=True)
class Rest:
    """A batch at rest under Dice surgery.

    Attributes:
        logits, labels: of every voxel, (N, V).
        closed_form: what the loss has measured, rates being means over the voxels in doubt.
        plain_means: the same with means over all voxels.
    """

    logits: Tensor
    labels: Tensor
    closed_form: float
    plain_means: float

    def nll(self, bias: float) -> float:
        """Return the mean NLL after a bias was taken off."""
        loss = F.binary_cross_entropy_with_logits(self.logits - bias, self.labels.double())
        return loss.item()

    def best_bias(self) -> float:
        """Return the bias with the lowest NLL."""
        return float(minimize_scalar(self.nll, bracket=(-1.0, 1.0)).x)


def settle_samples(
    samples: Sequence[Sample],
    make: Callable[[], Any] = lambda: make_loss("dice-surgery", paper=True),
    steps: int = 300,
) -> Rest:
    """Let each set's logit come to rest under Dice surgery, or another loss that measures."""
    loss = make()
    loss.meter.momentum = 0.0  # only the last step counts
    sets, labels = _voxels(samples)
    z = torch.zeros(SETS, 2, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.Rprop([z], lr=0.1, step_sizes=(1e-9, 0.5))
    for _ in range(steps):
        optimiser.zero_grad()
        loss(z[sets].movedim(-1, 1), labels).backward()
        optimiser.step()
    logits = (z[:, 1] - z[:, 0]).detach()[sets]
    shift = float(loss.equilibrium_shift()[1])
    return Rest(logits, labels, shift, _plain_means(logits.sigmoid(), labels.double()))


def _voxels(samples: Sequence[Sample]) -> tuple[Tensor, Tensor]:
    """Return set and label of every voxel, (N, V), filled up with sure background."""
    rows = []
    for sample in samples:
        pairs = [(k, y) for k, counts in sample.items() for y in (0, 1) for _ in range(counts[y])]
        rows.append(torch.tensor(pairs))
    longest = max(len(row) for row in rows)
    filled = [torch.cat((row, row.new_zeros(longest - len(row), 2))) for row in rows]
    sets, labels = torch.stack(filled).unbind(-1)
    return sets, labels


def _plain_means(p: Tensor, y: Tensor) -> float:
    """Return log(G_fg / G_bg) of Dice per sample, G averaged over all voxels of a label."""
    both, size = 2 * (p * y).sum(1), (p + y).sum(1)
    pull, push = (2 * size - both) / size**2, both / size**2
    inside, outside = y.sum(1), (1 - y).sum(1)
    foreground, background = (pull * inside).sum() / inside.sum(), (push * outside).sum()
    return math.log(foreground / (background / outside.sum()))


def main() -> None:
    """Print what each way of averaging foresees."""
    for name, samples in BATCHES.items():
        rest = settle_samples(samples)
        best = rest.best_bias()
        print(  # noqa: T201
            f"{name}: best bias {best:.2f}, closed form {rest.closed_form:.2f}, "
            f"with plain means {rest.plain_means:.2f}; NLL as it is {rest.nll(0.0):.4f}, "
            f"with the best bias {rest.nll(best):.4f}, closed form "
            f"{rest.nll(rest.closed_form):.4f}, plain means {rest.nll(rest.plain_means):.4f}"
        )


if __name__ == "__main__":
    main()
