"""Why does surgery of Dice stay where it begins, with SGD? One network, several beginnings.

    python docs/analyses/plateau.py STORE [--steps 200]

STORE is a store of `gradsurge prepare`, such as the hippocampus's. Every loss trains the same small
network on the same patches with SGD (0.01, Nesterov 0.99, clip 12). "begins at" says which
probability of foreground the network has at first everywhere: its last bias is set so. Printed is
how well it tells foreground from background on patches of validation cases (AUROC, 0.5 for a
network that sees nothing), and how hard the foreground pulled at first: the sum of abs(dL/dz) over
its voxels.
"""

import argparse
import math
from pathlib import Path
from typing import Any

import torch
from sklearn.metrics import roc_auc_score
from torch import Tensor, nn

from gradsurge import make_loss
from gradsurge.data.patches import PatchSettings, PatchSource, stream_batches
from gradsurge.data.store import Store
from gradsurge.models import make_model, plan_model

PATCH = (32, 40, 32)
NETWORK: dict[str, Any] = {"features": 16, "cap": 64, "resolution": "half"}
OURS = {"scale": 0.5, "decline": None}
PAPER = {"paper": True}
# (title, loss, options, foreground at the beginning; None leaves the network as it is made)
RUNS: tuple[tuple[str, str, dict[str, Any], str | float | None], ...] = (
    ("Cross-entropy", "ce", {}, None),
    ("Cross-entropy, begun where it rests", "ce", {}, "share"),
    ("Dice", "dice", {}, None),
    ("Dice surgery, the paper's", "dice-surgery", PAPER, None),
    ("the same, begun where it rests", "dice-surgery", PAPER, 0.5),
    ("the same, begun at 0.02", "dice-surgery", PAPER, 0.02),
    ("the same, begun at 0.02, half as strong", "dice-surgery", {**PAPER, "scale": 0.125}, 0.02),
    ("the same, begun at 0.98", "dice-surgery", PAPER, 0.98),
    ("s = 1/2, no decline", "dice-surgery", {**OURS, "normalise": False}, None),
    ("the same, begun where it rests", "dice-surgery", {**OURS, "normalise": False}, 0.5),
    ("s = 1/2, no decline, normalised", "dice-surgery", {**OURS, "normalise": True}, None),
)


def source(store: Store, split: str) -> PatchSource:
    """Return patches of a split."""
    return PatchSource(store, store.split(split), PatchSettings(PATCH, batch=2), "none")


def begin_at(model: nn.Module, p: float, classes: int) -> None:
    """Set the last bias so that foreground has the probability p at a network that sees nothing."""
    (head, *_) = model.heads  # type: ignore[misc]
    with torch.no_grad():
        head.bias.fill_(math.log(p / (classes - 1)))
        head.bias[0] = math.log(1.0 - p)


def first_pull(model: nn.Module, loss: nn.Module, patches: list[tuple[Tensor, Tensor]]) -> float:
    """Return the total field on the foreground's own logits, mean over patches with foreground."""
    found = []
    for image, label in patches:
        logits = model(image).detach().requires_grad_()
        loss(logits, label).backward()
        assert logits.grad is not None
        own = logits.grad.gather(1, label.unsqueeze(1))[:, 0]
        found.append(float(own[label > 0].abs().sum()))
    return sum(found) / len(found)


def auroc(model: nn.Module, patches: list[tuple[Tensor, Tensor]]) -> tuple[float, float]:
    """Return the AUROC of foreground against background, and the mean foreground."""
    model.eval()
    with torch.no_grad():
        p = torch.cat([1.0 - model(image).softmax(1)[:, 0].flatten() for image, _ in patches])
    model.train()
    truth = torch.cat([label.flatten() for _, label in patches]) > 0
    return float(roc_auc_score(truth.numpy(), p.numpy())), float(p.mean())


def main() -> None:
    """Train, and print a line a loss."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("store", type=Path)
    parser.add_argument("--steps", type=int, default=200)
    asked = parser.parse_args()
    store = Store.open(asked.store)
    classes, channels = len(store.dataset.label_names), len(store.dataset.channel_names)
    held_out = [
        (batch["image"], batch["label"].long())
        for batch in stream_batches(source(store, "validation"), 1, 0, 8)
    ]
    share = float(torch.cat([label.flatten() for _, label in held_out]).gt(0).float().mean())
    every = asked.steps // 8
    steps = range(every, asked.steps + 1, every)
    print(f"{store.dataset.name}, foreground {share:.2%} of the patches")
    print(
        "| begun | " + " | ".join(f"step {step}" for step in steps) + " | mean p at first, last |"
    )
    print("| --- |" + " ---: |" * (len(steps) + 2))
    for title, name, options, begins in RUNS:
        torch.manual_seed(0)
        model = make_model(plan_model("residual-unet", channels, classes, PATCH, **NETWORK))
        if begins is not None:
            begin_at(model, share if begins == "share" else float(begins), classes)
        loss = make_loss(name, **options)
        sgd = torch.optim.SGD(model.parameters(), 0.01, momentum=0.99, nesterov=True)
        first, size = auroc(model, held_out)[1], first_pull(model, loss, held_out)
        cells = []
        for step, batch in enumerate(stream_batches(source(store, "train"), 0, 0, asked.steps), 1):
            sgd.zero_grad()
            loss(model(batch["image"]), batch["label"].long()).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 12.0)
            sgd.step()
            if step in steps:
                found, mean = auroc(model, held_out)
                cells.append(f"{found:.3f}")
        print(
            f"| {title} | " + " | ".join(cells) + f" | {first:.3f}, {mean:.3f} | {size:.4f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
