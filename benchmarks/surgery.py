"""Time and memory of Dice with surgery, against the paper's listing and MONAI's plain Dice.

All contenders run in one process, in turns, so that noise and the allocator's state hit all alike;
medians are shown. ``python benchmarks/surgery.py [--size 128] [--rounds 15] [--json FILE]``
"""

import argparse
import gc
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from _provenance import provenance, provenance_line
from monai.losses import DiceLoss
from monai.networks.nets import UNet
from rich.console import Console
from rich.table import Table
from torch import Tensor, nn

import gradsurge as gs
from gradsurge.surgery.memory import ask_for_huge_pages

Step = Callable[[Tensor, Tensor], Any]


class Listing(torch.autograd.Function):
    """The arithmetic of the paper's appendix D, written anew from its formulas."""

    @staticmethod
    def forward(ctx: Any, logits: Tensor, one_hot: Tensor, n: float) -> Tensor:
        p = torch.softmax(logits, dim=1)
        error = torch.abs(p - one_hot)
        decline = (1 - torch.pow(error, n)) * (1 - torch.pow(1 - error, n))
        ctx.save_for_backward(0.25 * error * decline)
        return p

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        weight = ctx.saved_tensors[0][:, 1:2]
        coupling = grads[0][:, 1:2] - grads[0][:, 0:1]
        return torch.cat((-weight * coupling, weight * coupling), dim=1), None, None


def contenders(*, compiled: bool) -> dict[str, Step]:
    """Return name -> (logits, target) -> anything, each one a forward and a backward pass."""
    of_probabilities = DiceLoss(include_background=False)
    of_logits = DiceLoss(include_background=False, softmax=True, to_onehot_y=True)
    composed, fused = gs.Surgery(of_probabilities), gs.make_loss("dice-surgery")
    combo, plain_ours = gs.make_loss("ce+dice-surgery"), gs.make_loss("dice")

    def listing(z: Tensor, y: Tensor) -> None:
        one_hot = torch.zeros_like(z, requires_grad=False).scatter_(1, y, 1.0)
        p: Tensor = Listing.apply(z, one_hot, 20.0)  # type: ignore[no-untyped-call]
        of_probabilities(p, one_hot).backward()

    def floor(z: Tensor, _y: Tensor) -> Tensor:
        with torch.no_grad():
            z.sum()
            out = ask_for_huge_pages(torch.empty_like(z))  # as our gradient is allocated
            return torch.add(z, 1.0, out=out)  # reads once more, writes once

    steps: dict[str, Step] = {
        "listing + MONAI DiceLoss": listing,
        "MONAI DiceLoss, no surgery": step_of(of_logits),
        "ours, composed (Surgery(MONAI))": step_of(composed),
        "ours, fused (dice-surgery)": step_of(fused),
        "ours, fused, no label check": step_of(gs.make_loss("dice-surgery", check=False)),
        "ours, fused, normalised": step_of(gs.make_loss("dice-surgery", normalise=True)),
        "ours, fused (ce+dice-surgery)": step_of(combo),
        "ours, fused (dice, no surgery)": step_of(plain_ours),
        "floor: logits read twice, written once": floor,
    }
    if compiled:
        steps["ours, compiled (dice-surgery)"] = step_of(
            torch.compile(gs.make_loss("dice-surgery"), fullgraph=True)
        )
    return steps


def step_of(loss: nn.Module | Callable[..., Any]) -> Step:
    """Return a forward and a backward pass of a loss."""
    return lambda z, y: loss(z, y).backward()


def median_ms(steps: dict[str, Step], z: Tensor, y: Tensor, rounds: int) -> dict[str, float]:
    """Return the median time of each step; all take turns."""
    times: dict[str, list[float]] = {name: [] for name in steps}
    for round_ in range(rounds + 2):
        for name, step in steps.items():
            x = z.detach().requires_grad_()
            start = time.perf_counter()
            step(x, y)
            if round_ >= 2:  # warm-up: allocator, caches, compilation
                times[name].append(1e3 * (time.perf_counter() - start))
    return {name: statistics.median(t) for name, t in times.items()}


def peak_mb(step: Step, z: Tensor, y: Tensor) -> float:
    """Return the peak of memory allocated by torch during the step, beyond what was there."""
    x = z.detach().requires_grad_()
    gc.collect()
    with torch.profiler.profile(profile_memory=True) as profile:
        step(x, y)
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.json"
        profile.export_chrome_trace(str(trace))
        events = json.loads(trace.read_text())["traceEvents"]
    memory = sorted((e for e in events if e.get("name") == "[memory]"), key=lambda e: e["ts"])
    level = peak = 0
    for event in memory:
        level += int(event["args"]["Bytes"])
        peak = max(peak, level)
    return peak / 2**20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--no-compile", action="store_true")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    torch.manual_seed(0)
    z = torch.randn(2, 2, *[args.size] * 3) * 3
    y = (torch.rand(2, 1, *[args.size] * 3) < 0.05).long()
    steps = contenders(compiled=not args.no_compile)
    times = median_ms(steps, z, y, args.rounds)
    training_table(args.rounds)
    memory = {name: peak_mb(step, z, y) for name, step in steps.items()}
    report(times, memory, args.size, args.json)


def training_table(rounds: int) -> None:
    """Print what surgery, and measuring its equilibrium, add to the step of a small 3D U-Net."""
    net = UNet(3, 1, 2, channels=(16, 32, 64), strides=(2, 2), num_res_units=2)
    image = torch.randn(2, 1, 40, 56, 40)
    y = (torch.rand(2, 1, 40, 56, 40) < 0.05).long()
    losses = {
        "MONAI DiceLoss": DiceLoss(include_background=False, softmax=True, to_onehot_y=True),
        "dice": gs.make_loss("dice"),
        "dice-surgery, equilibrium not measured": gs.make_loss("dice-surgery").eval(),
        "dice-surgery": gs.make_loss("dice-surgery"),
    }

    def step(loss: nn.Module) -> Step:
        return lambda x, t: loss(net(x), t).backward()

    def loss_alone(loss: nn.Module) -> Step:
        return lambda x, t: loss(x.expand(-1, 2, -1, -1, -1).contiguous(), t).backward()

    whole = median_ms({n: step(loss) for n, loss in losses.items()}, image, y, 2 * rounds)
    alone = median_ms({n: loss_alone(loss) for n, loss in losses.items()}, image, y, 20 * rounds)
    table = Table("loss", "step ms", "loss ms", "of the step", title="U-Net 16-32-64, 2x40x56x40")
    for name, ms in whole.items():
        table.add_row(name, f"{ms:.1f}", f"{alone[name]:.2f}", f"{alone[name] / ms:.2%}")
    _, plain, unmeasured, surgery = alone.values()
    console = Console(width=120)
    console.print(table)
    step_ms = whole["dice-surgery"]
    console.print(
        f"measuring the equilibrium: {(surgery - unmeasured) / step_ms:+.2%} of the step; surgery "
        f"against our plain dice: {(surgery - plain) / step_ms:+.2%} of the step"
    )


def report(times: dict[str, float], memory: dict[str, float], size: int, out: Path | None) -> None:
    """Print the table, and write it as JSON if asked to."""
    listing, plain, floor = (
        next(n for n in times if n.startswith(s)) for s in ("list", "MON", "fl")
    )
    table = Table(
        "forward + backward",
        "ms",
        "listing /",
        "MONAI plain /",
        "/ floor",
        "peak MB",
        "/ listing",
        title=f"2x2x{size}^3 float32, decline 20",
    )
    for name, ms in times.items():
        table.add_row(
            name,
            f"{ms:.1f}",
            f"{times[listing] / ms:.1f}",
            f"{times[plain] / ms:.2f}",
            f"{ms / times[floor]:.1f}",
            f"{memory[name]:.0f}",
            f"{memory[name] / memory[listing]:.2f}",
        )
    console = Console(width=120)
    console.print(table)
    console.print(provenance_line())
    if out is not None:
        out.write_text(json.dumps({**provenance(), "ms": times, "peak_mb": memory}, indent=1))


if __name__ == "__main__":
    main()
