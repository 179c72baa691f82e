"""Time of a training step on the CPU by how memory is asked for: small pages, or huge ones.

Torch takes fresh memory for every result, and Linux maps it piece by piece as it is written to:
4 KB at a time, or 2 MB where huge pages are asked for. Who asks is settled by the environment
before a process starts, so each way has processes of its own, which take turns.
``python benchmarks/pages.py [--rounds 20] [--turns 2] [--json FILE]``
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

from _provenance import provenance, provenance_line
from _training_loss_step import PATCHES, WARM_UP, quick_batch, training_step
from rich.console import Console
from rich.table import Table

from gradsurge.losses import make_loss

TORCH_ASKS = {"THP_MEM_ALLOC_ENABLE": "1"}
GLIBC_ASKS = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
KEEPS = {"MALLOC_TRIM_THRESHOLD_": str(8 << 30), "MALLOC_TOP_PAD_": str(256 << 20)}
WAYS = {
    "as it is": {},
    "freed memory is kept": KEEPS,
    "huge pages (torch asks)": TORCH_ASKS,
    "huge pages (glibc asks)": GLIBC_ASKS,
    "huge pages (glibc asks), kept": GLIBC_ASKS | KEEPS,
}


def step_times(task: str, rounds: int) -> list[float]:
    """Return milliseconds of training steps with Dice surgery."""
    model, image, label = quick_batch(task)
    step, times = training_step(model, make_loss("dice-surgery")), []
    for _ in range(rounds + WARM_UP):
        start = time.perf_counter()
        step(image, label)
        times.append(1e3 * (time.perf_counter() - start))
    return times[WARM_UP:]


def in_fresh_process(task: str, rounds: int, way: dict[str, str]) -> tuple[float, float]:
    """Return the median of the times of a process with that environment, and its peak MB."""
    asked = {name for names in WAYS.values() for name in names}
    clean = {name: value for name, value in os.environ.items() if name not in asked}
    order = [sys.executable, __file__, "--task", task, "--rounds", str(rounds)]
    answer = subprocess.run(order, env=clean | way, capture_output=True, text=True, check=True)
    median, peak = json.loads(answer.stdout)
    return median, peak


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--task", choices=PATCHES, help=argparse.SUPPRESS)  # of a fresh process
    args = parser.parse_args()
    if args.task is not None:
        median = statistics.median(step_times(args.task, args.rounds))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps([median, peak]))
        return
    found: dict[str, dict[str, list[tuple[float, float]]]] = {}
    for task in PATCHES:
        found[task] = {name: [] for name in WAYS}
        for _ in range(args.turns):
            for name, way in WAYS.items():
                found[task][name].append(in_fresh_process(task, args.rounds, way))
    show(found, Console(width=120))
    if args.json is not None:
        args.json.write_text(json.dumps({**provenance(), "ms_and_peak_mb": found}, indent=1))


def show(found: dict[str, dict[str, list[tuple[float, float]]]], out: Console) -> None:
    table = Table("training step", "memory", "ms", "faster by", "lowest to highest", "peak MB")
    for task, ways in found.items():
        plain = [ms for ms, _ in ways["as it is"]]
        for name, turns in ways.items():
            ratios = [a / ms for a, (ms, _) in zip(plain, turns, strict=True)]
            table.add_row(
                task,
                name,
                f"{statistics.median(ms for ms, _ in turns):.1f}",
                f"{statistics.median(ratios):.2f}",
                f"{min(ratios):.2f} to {max(ratios):.2f}",
                f"{max(peak for _, peak in turns):.0f}",
            )
    out.print(table)
    out.print(provenance_line())


if __name__ == "__main__":
    main()
