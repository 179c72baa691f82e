"""Speed of training and inference: surgery against plain Dice, nnU-Net v2, MONAI's windows.

``loss``: a training step with surgery against the same step without: same network (preset
"quick"), same batch, in turns in one process; the median of the paired ratios.

``nnunet``: nnU-Net preprocesses Hippocampus, the same arrays go into a store of ours, and both
train on the same split: same topology and channels, patch, batch, deep supervision, augmentation
list and optimiser (nnU-Net's SGD, or AdamW at the rate of "quick", by nnU-Net's trainer for it);
one loader process each, all cores. They take turns of ``--every`` steps; after each turn whole
validation cases are predicted (Gaussian sliding window, overlap 0.5, no mirroring) and scored by
one function: mean over classes of the mean Dice over cases. Steps that still find batches made
ahead are left out of steps/s; scoring is left out of all times. nnU-Net's network is once its plain
U-Net, with our convolutions but no residual sums, and once its residual one, with one
full-resolution convolution more.

``windows``: a volume by sliding windows of the preset "quick", against MONAI's.

``python benchmarks/training.py [--parts loss nnunet windows] [--data ../shared/data
--nnunet-python PATH] [--json F]``; seconds only: ``--rounds 3 --steps 4 --every 2 --cases 10
--features 8 --size 48 --window 32 --window-rounds 1``
"""

import argparse
import json
import shutil
import statistics
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from _nnunet_orders import nnunet_side
from _provenance import provenance, provenance_line
from _training_loss_step import PATCHES, measure_pairs
from _training_race import Course, Race, Turn, median_speed, paired_ratio, seconds_to
from _training_windows import (
    CONTENDERS,
    growth_in_fresh_process,
    largest_difference,
    seconds_in_turns,
)
from _volumes import store_of_nnunets
from data import IDS, subset
from rich.console import Console
from rich.table import Table

PARTS = ("loss", "nnunet", "windows")
HIPPOCAMPUS = "Hippocampus"
GOAL = 0.80


def loss_part(args: argparse.Namespace, out: Console) -> Any:
    table = Table("step with", "against", "ms", "ms against", "ratio", "its standard error")
    found = [pair for task in PATCHES for pair in measure_pairs(task, args.rounds)]
    for pair in found:
        table.add_row(
            f"{pair.task} {pair.other}",
            pair.plain,
            f"{statistics.median(pair.other_ms):.1f}",
            f"{statistics.median(pair.plain_ms):.1f}",
            f"{pair.ratio:.4f}",
            f"{pair.spread:.4f}",
        )
    out.print(table)
    return [
        {**pair._asdict(), "ratio": pair.ratio, "standard_error": pair.spread} for pair in found
    ]


def nnunet_part(args: argparse.Namespace, work: Path, out: Console) -> Any:
    if args.data is None or args.nnunet_python is None:
        out.print("nnU-Net: skipped, it needs --data and --nnunet-python")
        return None
    raw = subset(args.data, work, HIPPOCAMPUS, args.cases)
    with nnunet_side(args.nnunet_python, work) as order:
        versions = order("versions")
        out.print("nnU-Net's side: " + ", ".join(f"{n} {v}" for n, v in versions.items()))
        folder = Path(order("preprocess", dataset=IDS[HIPPOCAMPUS])["folder"])
        store = store_of_nnunets(raw, folder, work / "store")
        validation = store.cases[::5]
        course = Course(
            store=store,
            folder=folder,
            training=[name for name in store.cases if name not in set(validation)],
            validation=validation,
            checked=validation[: args.checked],
            loss=args.loss,
            optimiser=args.optimiser,
            features=args.features,
            batch=args.batch,
            steps=args.steps,
            every=args.every,
        )
        found = {}
        for network in args.nnunet_networks:
            race = course.run(order, network, work / network, _progress(out))
            print_race(race, course, out)
            found[network] = {
                **race._asdict(),
                "steps_a_second_ratio": statistics.median(paired_ratio(race.ours, race.theirs)),
                "seconds_to_goal": [seconds_to(t, GOAL) for t in (race.ours, race.theirs)],
            }
        return {
            "versions": versions,
            "loss": args.loss,
            "optimiser": args.optimiser,
            "goal": GOAL,
            "races": found,
        }


def _progress(out: Console) -> Callable[[Turn, Turn], None]:
    """Return what tells of a turn in one line."""

    def tell(ours: Turn, theirs: Turn) -> None:
        line = f"Dice {ours.dice:.3f} / {theirs.dice:.3f}, steps/s {ours.steps_a_second:.2f} / "
        out.print(f"{line}{theirs.steps_a_second:.2f} (ours / nnU-Net)", style="dim")

    return tell


def print_race(race: Race, course: Course, out: Console) -> None:
    mine, its = race.our_network, race.their_network
    title = (
        f"Hippocampus, {len(course.training)} training cases, patch "
        f"{'x'.join(map(str, its['patch']))}, batch {course.batch}, channels {its['features']}, "
        f"{torch.get_num_threads()} threads, 1 loader process, {course.optimiser}; "
        f"ours: {course.loss}"
    )
    table = Table("", "ours", "nnU-Net", "ours better by", title=title)
    table.add_row("network", mine["network"], its["network"], "")
    for name, unit in (("parameters", 1e6), ("gflop", 1.0)):
        words = "10⁶ parameters" if name == "parameters" else "GFLOP a patch, forward"
        a, b = mine[name] / unit, its[name] / unit
        table.add_row(words, f"{a:.3f}", f"{b:.3f}", f"(size ours / its: {a / b:.3f})")
    table.add_row(
        "steps/s",
        f"{median_speed(race.ours):.2f}",
        f"{median_speed(race.theirs):.2f}",
        _spread(paired_ratio(race.ours, race.theirs)),
    )
    shares = [statistics.median(t.data_share for t in side) for side in (race.ours, race.theirs)]
    table.add_row("waiting for data, share of the step", *(f"{s:.1%}" for s in shares), "")
    times = [seconds_to(side, GOAL) for side in (race.ours, race.theirs)]
    ratio = f"{times[1] / times[0]:.2f}" if times[0] and times[1] else ""
    table.add_row(f"s to Dice {GOAL:.2f}", *(_seconds(t) for t in times), ratio)
    best = [max(turn.dice for turn in side) for side in (race.ours, race.theirs)]
    words = f"best Dice in {course.steps} steps, {len(course.checked)} whole cases"
    table.add_row(words, *(f"{b:.3f}" for b in best), "")
    out.print(table)


def _seconds(value: float | None) -> str:
    return "not reached" if value is None else f"{value:.0f}"


def _spread(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def windows_part(args: argparse.Namespace, out: Console) -> Any:
    memory = {name: growth_in_fresh_process(name, args.size, args.window) for name in CONTENDERS}
    times = seconds_in_turns(args.size, args.window, args.window_rounds)
    mine = next(iter(times))
    title = f"{args.size}³ volume, window {args.window}³, overlap 0.5, gaussian, preset quick"
    table = Table("inference", "s", "time / ours, each round", "peak MB", "/ ours", title=title)
    for name, seconds in times.items():
        ratios = [b / a for a, b in zip(times[mine], seconds, strict=True)]
        table.add_row(
            name,
            _spread(seconds),
            _spread(ratios),
            f"{memory[name]:.0f}",
            f"{memory[name] / max(memory[mine], 1e-9):.2f}",
        )
    out.print(table)
    difference = largest_difference(min(args.size, 2 * args.window), args.window)
    out.print(f"largest difference of our logits from MONAI's: {difference:.1e}")
    return {"seconds": times, "peak_mb": memory, "largest_difference": difference}


def main() -> None:
    args = _arguments()
    out = Console(width=150)
    settings = {k: v for k, v in vars(args).items() if not isinstance(v, Path)}
    found: dict[str, Any] = {**provenance(), "settings": settings}
    work = Path(tempfile.mkdtemp(prefix="gradsurge-benchmark-"))
    try:
        if "loss" in args.parts:
            found["loss"] = loss_part(args, out)
        if "nnunet" in args.parts:
            found["nnunet"] = nnunet_part(args, work, out)
        if "windows" in args.parts:
            found["windows"] = windows_part(args, out)
    finally:
        shutil.rmtree(work)
    out.print(provenance_line())
    if args.json is not None:
        args.json.write_text(json.dumps(found, indent=1) + "\n")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--data", type=Path, help="folder of the data sets")
    parser.add_argument("--nnunet-python", type=Path, help="interpreter that has nnunetv2")
    parser.add_argument(
        "--nnunet-networks", nargs="+", choices=("plain", "residual"), default=("plain", "residual")
    )
    parser.add_argument("--rounds", type=int, default=100, help="pairs of steps")
    parser.add_argument("--loss", default="ce+dice-surgery", help="of our training")
    parser.add_argument(
        "--optimiser",
        choices=("sgd", "adamw"),
        default="sgd",
        help="of both trainings: nnU-Net's own, or AdamW",
    )
    parser.add_argument("--steps", type=int, default=300, help="of each training")
    parser.add_argument("--every", type=int, default=25, help="steps of a turn")
    parser.add_argument("--cases", type=int, default=260, help="of Hippocampus")
    parser.add_argument("--checked", type=int, default=20, help="validation cases")
    parser.add_argument("--features", type=int, default=16, help="channels at full resolution")
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--size", type=int, default=256, help="of the volume")
    parser.add_argument("--window", type=int, default=96)
    parser.add_argument("--window-rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    if args.steps % args.every:
        parser.error(f"--steps: expected a multiple of --every ({args.every}), got {args.steps}")
    return args


if __name__ == "__main__":
    main()
