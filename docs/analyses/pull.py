"""How much of the pull is the region loss's? From a blind network to a trained one.

    python docs/analyses/pull.py

A sample of 20,000 voxels per class structure; printed is the total field on the foreground's
voxels, sum of abs(F), and the share of it that is the region loss's beside cross-entropy with
weights 1 and 1. "blind": p = 1/2 (of C classes 1/C) everywhere; "plateau": where plain surgery of
a blind network rests; "end": half of the structure found, soft Dice about 0.7.
"""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from gradsurge import make_loss

VOXELS = 20_000
RULES: dict[str, tuple[str, dict[str, Any]]] = {
    "Dice": ("dice", {}),
    "surgery, the paper's": ("dice-surgery", {"paper": True}),
    "surgery, normalised": (
        "dice-surgery",
        {"scale": 0.5, "decline": None, "normalise": True},
    ),
}


def state(kind: str, share: float, classes: int) -> tuple[Tensor, Tensor]:
    """Return logits (1, C, V) and labels (1, V) of a network in one of three states."""
    per_class = round(share * VOXELS / (classes - 1))
    labels = torch.zeros(VOXELS, dtype=torch.long)
    for c in range(1, classes):
        labels[(c - 1) * per_class : c * per_class] = c
    logits = torch.zeros(classes, VOXELS, dtype=torch.float64)
    if kind == "plateau":
        logits[0] = _logit_of_rest(share, classes)
    if kind == "end":
        truth = torch.nn.functional.one_hot(labels, classes).T.double()
        logits = 8.0 * truth  # right and sure
        for c in range(1, classes):  # a third of each structure is in doubt, as much beside it
            doubt = slice((c - 1) * per_class, (c - 1) * per_class + per_class // 3)
            beside = slice(VOXELS - c * per_class // 3, VOXELS - (c - 1) * per_class // 3)
            for part in (doubt, beside):
                logits[:, part] = 0.0
                logits[[k for k in range(1, classes) if k != c], part] = -8.0
    return logits.unsqueeze(0), labels.unsqueeze(0)


def _logit_of_rest(share: float, classes: int) -> float:
    """Return the background's logit where one p for all is at rest, by the sign of its field."""
    low, high = -20.0, 20.0
    labels = state("blind", share, classes)[1]
    for _ in range(60):
        middle = (low + high) / 2
        logits = torch.zeros(1, classes, VOXELS, dtype=torch.float64)
        logits[:, 0] = middle
        field = _field(make_loss("dice-surgery", paper=True), logits, labels)
        low, high = (low, middle) if float(field[:, 0].sum()) > 0 else (middle, high)
    return middle


def _field(loss: Callable[..., Tensor], logits: Tensor, labels: Tensor) -> Tensor:
    z = logits.clone().requires_grad_()
    loss(z, labels).backward()
    assert z.grad is not None
    return z.grad


def pull(name: str, options: dict[str, Any], logits: Tensor, labels: Tensor) -> float:
    """Return the total field on the voxels of the foreground, on their own class's logit."""
    own = _field(make_loss(name, **options), logits, labels).gather(1, labels.unsqueeze(1))
    return float(own[:, 0][labels > 0].abs().sum())


def main() -> None:
    """Print the table."""
    head = ("classes", "foreground", "background counts", "state", "CE", *RULES)
    print("| " + " | ".join(head) + " |\n|" + " --- |" * len(head))
    for classes, share, background in (
        (2, 0.002, False),
        (2, 0.002, True),
        (2, 0.3, False),
        (4, 0.006, False),
        (4, 0.3, False),
    ):
        for kind in ("blind", "plateau", "end"):
            logits, labels = state(kind, share, classes)
            ce = pull("ce", {}, logits, labels)
            cells = [str(classes), f"{share:.1%}", "yes" if background else "no", kind, f"{ce:.5f}"]
            for name, options in RULES.values():
                given = {**options, "include_background": background}
                found = pull(name, given, logits, labels)
                cells.append(f"{found:.4f} ({found / (found + ce):.0%})")
            print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
