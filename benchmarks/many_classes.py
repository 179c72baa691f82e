"""Time of CE + Dice with surgery on three and more classes, against MONAI's plain DiceCELoss.

All run in one process, in turns; medians are shown, and how often ours goes into MONAI's time.
``python benchmarks/many_classes.py [--rounds 15] [--json FILE]``
"""

import argparse
import json
from pathlib import Path

import torch
from _provenance import provenance, provenance_line
from monai.losses import DiceCELoss
from rich.console import Console
from rich.table import Table
from surgery import Step, median_ms, step_of

import gradsurge as gs

# Classes and size: a small patch, a usual one, organs of the abdomen, the whole body.
CASES = {
    "3 classes, 40x56x40": (3, (40, 56, 40)),
    "3 classes, 96x96x96": (3, (96, 96, 96)),
    "20 classes, 64x64x64": (20, (64, 64, 64)),
    "105 classes, 32x32x32": (105, (32, 32, 32)),
}


def contenders() -> dict[str, Step]:
    """Return name -> (logits, target) -> anything, each one a forward and a backward pass."""
    losses = {
        "MONAI DiceCELoss": DiceCELoss(include_background=False, softmax=True, to_onehot_y=True),
        "ce+dice": gs.make_loss("ce+dice"),
        "ce+dice-surgery": gs.make_loss("ce+dice-surgery"),
    }
    return {name: step_of(loss) for name, loss in losses.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    torch.manual_seed(0)
    found = {}
    for name, (classes, size) in CASES.items():
        z, y = torch.randn(2, classes, *size) * 3, torch.randint(0, classes, (2, 1, *size))
        found[name] = median_ms(contenders(), z, y, args.rounds)
    table = Table("forward + backward, ms", *next(iter(found.values())), "MONAI / surgery")
    for name, times in found.items():
        monai, *_, surgery = times.values()
        table.add_row(name, *(f"{ms:.1f}" for ms in times.values()), f"{monai / surgery:.2f}")
    console = Console(width=120)
    console.print(table)
    console.print(provenance_line())
    if args.json is not None:
        args.json.write_text(json.dumps({**provenance(), "ms": found}, indent=1))


if __name__ == "__main__":
    main()
