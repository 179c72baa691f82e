"""Which defaults should surgery have? Trains the candidates, and decides by a rule fixed before.

    python benchmarks/defaults.py screen STORES OUT     one seed, a quarter of the recipes' steps
    python benchmarks/defaults.py isles STORES OUT      ISLES with AdamW: what of the new one hurts
    python benchmarks/defaults.py dice STORES OUT       Dice surgery: old against new, three seeds
    python benchmarks/defaults.py ce+dice STORES OUT    CE + Dice surgery: the same

STORES holds the stores chase, hippocampus, isles and phantoms, prepared as their recipes say. Every
run is a `gradsurge train` in OUT; a stopped benchmark goes on where it was. The numbers are of
validation cases, raw, and go to docs/results/defaults.json as they come.

The rule: new becomes the default if its mean NLL is lower than the old one's in at least three of
the four data sets with each optimiser, and its mean Dice nowhere more than 0.5 points lower.
"""

import argparse
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product
from math import exp, log
from pathlib import Path
from statistics import mean
from threading import Lock
from typing import Any

from _provenance import provenance

RESULTS = Path(__file__).parents[1] / "docs/results/defaults.json"
SEEDS = 3
MOST_DICE_LOST = 0.005

# What the recipes train with, less compiling, and their steps.
_SMALL = "--model-option features=16 --model-option cap=64 --model-option resolution=half"
DATA = {
    "chase": (2000, "--model-option features=8 --batch 2 --augmentation light"),
    "hippocampus": (1600, ""),
    "isles": (8000, "--augmentation light"),
    "phantoms": (2400, f"{_SMALL} --patch 128,128 --batch 2 --augmentation light"),
}
# Half of the recipes' steps; of ISLES' 8000 a quarter, for want of time.
SHARES = {"chase": 0.5, "hippocampus": 0.5, "isles": 0.25, "phantoms": 0.5}
QUARTERS = dict.fromkeys(SHARES, 0.25)  # beside cross-entropy
OPTIMISERS = {
    "sgd": "--optimiser sgd --learning-rate 0.01 --momentum 0.99 --weight-decay 3e-5",
    "adamw": "--optimiser adamw --learning-rate 0.003",
}


@dataclass(frozen=True)
class Candidate:
    """A setting of the surgery and, beside cross-entropy, of the weights."""

    scale: float
    decline: float | None
    normalise: bool | str
    weights: tuple[float, float] | None = None

    @property
    def name(self) -> str:
        """Return a name that tells everything."""
        parts = [f"s={self.scale:g}", f"n={self.decline}", *self._normalised]
        return ", ".join(
            parts + ([] if self.weights is None else ["{:g}:{:g}".format(*self.weights)])
        )

    @property
    def _normalised(self) -> list[str]:
        words = {False: [], True: ["normalised"], "batch": ["normalised over the batch"]}
        return words[self.normalise]

    @property
    def options(self) -> list[str]:
        """Return what ``gradsurge train`` is given."""
        options: dict[str, Any] = {"scale": self.scale, "decline": self.decline}
        options |= {"normalise": str(self.normalise).lower()}
        if self.weights is not None:
            options["weights"] = "{:g},{:g}".format(*self.weights)
        return [word for k, v in options.items() for word in ("--loss-option", f"{k}={v}")]


OLD = {
    "dice-surgery": Candidate(0.25, 20, False),
    "ce+dice-surgery": Candidate(0.25, 20, False, (0.5, 0.5)),
}
CANDIDATES = {
    "dice-surgery": [
        OLD["dice-surgery"],
        Candidate(0.5, None, False),
        Candidate(0.5, None, True),
        Candidate(0.5, None, "batch"),
        Candidate(0.5, 20, True),
        Candidate(0.25, None, True),
        Candidate(1.0, None, True),
    ],
    "ce+dice-surgery": [
        OLD["ce+dice-surgery"],
        Candidate(0.5, None, False, (1, 1)),
        Candidate(0.5, None, True, (0.5, 0.5)),
        Candidate(0.5, None, True, (1, 1)),
        Candidate(0.5, None, "batch", (1, 1)),
        Candidate(1.0, None, True, (1, 1)),
    ],
}
# The best of `screen` with s = 1/2, the plain pull at p = 1/2; s = 1 is no better.
NEW = {
    "dice-surgery": Candidate(0.5, None, True),
    "ce+dice-surgery": Candidate(0.5, None, True, (1, 1)),
}
# What could be left out of the new one, where it failed with AdamW.
LESS = [
    Candidate(0.5, None, False),
    Candidate(0.5, None, "batch"),
    Candidate(0.5, 20, True),
]


@dataclass(frozen=True)
class Run:
    """One training."""

    loss: str
    data: str
    optimiser: str
    candidate: Candidate
    seed: int
    share: float

    @property
    def steps(self) -> int:
        """Return how many steps it has."""
        return round(DATA[self.data][0] * self.share)

    def folder(self, out: Path) -> Path:
        """Return where it lies."""
        name = f"{self.optimiser} {self.candidate.name} {self.steps} {self.seed}"
        return (
            out
            / self.loss
            / self.data
            / name.replace(", ", "_").replace(" ", "_").replace(":", "-")
        )

    def train(self, stores: Path, out: Path) -> dict[str, Any]:
        """Train, or go on; return its row of numbers."""
        folder = self.folder(out)
        if not (folder / "outcome.json").exists():
            words = [sys.executable, "-m", "gradsurge", "train", str(stores / self.data)]
            words += [
                "--loss",
                self.loss,
                "--out",
                str(folder),
                "--resume",
                "--seed",
                str(self.seed),
            ]
            words += ["--steps", str(self.steps), "--validate-every", str(self.steps // 5)]
            words += ["--threads", "1", "--workers", "0", *self.candidate.options]
            words += DATA[self.data][1].split() + OPTIMISERS[self.optimiser].split()
            found = subprocess.run(words, capture_output=True, text=True, env=_quick(), check=False)
            if found.returncode != 0:
                raise SystemExit(f"{folder}: {found.stderr.strip()}")
        outcome = json.loads((folder / "outcome.json").read_text())
        scores = outcome["scores"]
        return {
            "loss": self.loss,
            "data": self.data,
            "optimiser": self.optimiser,
            "candidate": self.candidate.name,
            "seed": self.seed,
            "steps": self.steps,
            **{name: scores["none"][name] for name in ("nll", "ece", "brier", "dice")},
            "best dice": outcome["threshold_dice"],
            "nll, closed form": scores.get("equilibrium", {}).get("nll"),
            "nll, bias": scores.get("bias", {}).get("nll"),
        }


def _quick() -> dict[str, str]:
    """Return this process's environment, and one in which a CPU's memory is quicker to have."""
    memory = {"MALLOC_TRIM_THRESHOLD_": "1000000000", "MALLOC_TOP_PAD_": "100000000"}
    return {
        **os.environ,
        **memory,
        "OMP_NUM_THREADS": "1",
        "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
    }


def _runs(part: str) -> list[Run]:
    if part == "screen":
        some = product(CANDIDATES, ("phantoms", "hippocampus"), OPTIMISERS)
        return [Run(loss, d, o, c, 0, 0.25) for loss, d, o in some for c in CANDIDATES[loss]]
    if part == "isles":
        found = [OLD["dice-surgery"], NEW["dice-surgery"], *LESS]
        return [Run("dice-surgery", "isles", "adamw", c, 0, SHARES["isles"]) for c in found]
    loss = f"{part}-surgery"
    share = SHARES if part == "dice" else QUARTERS
    every = product(range(SEEDS), ("isles", "chase", "hippocampus", "phantoms"), OPTIMISERS)
    # What decides first: SGD, and the data set on which the new one was behind with AdamW.
    late = {("adamw", data) for data in DATA if data != "isles"} if part == "dice" else set()
    order = sorted(every, key=lambda cell: ((cell[2], cell[1]) in late, cell[0]))
    return [Run(loss, d, o, c, s, share[d]) for s, d, o in order for c in (OLD[loss], NEW[loss])]


def _keep(part: str, rows: list[dict[str, Any]]) -> None:
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    order = sorted(
        rows, key=lambda r: [str(r[k]) for k in ("loss", "data", "optimiser", "candidate", "seed")]
    )
    kept[part] = {**provenance(), "command": f"python benchmarks/defaults.py {part}", "rows": order}
    RESULTS.write_text(json.dumps(kept, indent=1) + "\n")


def _show(part: str, rows: list[dict[str, Any]]) -> None:
    for loss in dict.fromkeys(row["loss"] for row in rows):
        of_loss = [row for row in rows if row["loss"] == loss]
        found = dict.fromkeys(row["candidate"] for row in of_loss)
        names = [OLD[loss].name, *(name for name in found if name != OLD[loss].name)]
        titles = [name.replace("n=None", "no decline") for name in names]
        print(f"\n{loss}: NLL / ECE / Dice of validation cases, means over seeds (their number)\n")
        print("| data | optimiser | steps | " + " | ".join(titles) + " |")
        print("| --- | --- | ---: |" + " ---: |" * len(names))
        logs: dict[str, list[float]] = {name: [] for name in names}
        for data, optimiser in product(DATA, OPTIMISERS):
            of_cell = {name: _of(of_loss, data, optimiser, name) for name in names}
            if not any(of_cell.values()):
                continue
            steps = next(row["steps"] for cell in of_cell.values() for row in cell)
            told = [_told(cell) for cell in of_cell.values()]
            print(f"| {data} | {optimiser} | {steps} | " + " | ".join(told) + " |")
            for name, cell in of_cell.items():
                if cell and (old := of_cell[names[0]]):
                    logs[name].append(log(_mean(cell, "nll") / _mean(old, "nll")))
        means = [f"{exp(mean(values)):.3f}" if values else "" for values in logs.values()]
        print("| NLL over the old one's, geometric mean | | | " + " | ".join(means) + " |")
        if part in ("dice", "ce+dice"):
            _judge(of_loss, OLD[loss].name, NEW[loss].name)


def _told(rows: list[dict[str, Any]]) -> str:
    if not rows:
        return ""
    nll, ece, dice = (_mean(rows, name) for name in ("nll", "ece", "dice"))
    return f"{nll:.4f} / {ece:.4f} / {100 * dice:.1f} ({len(rows)})"


def _mean(rows: list[dict[str, Any]], name: str) -> float:
    return float(mean(row[name] for row in rows))


def _of(rows: list[dict[str, Any]], data: str, optimiser: str, name: str) -> list[dict[str, Any]]:
    return [
        r for r in rows if (r["data"], r["optimiser"], r["candidate"]) == (data, optimiser, name)
    ]


def _judge(rows: list[dict[str, Any]], old: str, new: str) -> None:
    print()
    for optimiser in OPTIMISERS:
        cells = [tuple(_of(rows, d, optimiser, n) for n in (new, old)) for d in DATA]
        pairs = [(mine, its) for mine, its in cells if mine and its]
        lower = sum(_mean(mine, "nll") < _mean(its, "nll") for mine, its in pairs)
        lost = max((_mean(its, "dice") - _mean(mine, "dice") for mine, its in pairs), default=0.0)
        verdict = "passes" if lower >= 3 and lost <= MOST_DICE_LOST else "does not pass"
        told = f"NLL lower in {lower} of {len(pairs)}, Dice at most {100 * lost:.1f} points lower"
        print(f"{optimiser}: {told}: {verdict}")


def main() -> None:
    """Train what is missing, then print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=("screen", "isles", "dice", "ce+dice"))
    parser.add_argument("stores", type=Path, nargs="?")
    parser.add_argument("out", type=Path, nargs="?", help="without: show what is in the JSON")
    parser.add_argument("--jobs", type=int, default=2, help="trainings at a time, a thread each")
    asked = parser.parse_args()
    if asked.out is None:
        _show(asked.part, json.loads(RESULTS.read_text())[asked.part]["rows"])
        return
    rows: list[dict[str, Any]] = []
    lock = Lock()

    def work(run: Run) -> None:
        row = run.train(asked.stores, asked.out)
        with lock:
            rows.append(row)
            _keep(asked.part, rows)
            print(json.dumps(row), flush=True)

    with ThreadPoolExecutor(asked.jobs) as pool:
        list(pool.map(work, _runs(asked.part)))
    _show(asked.part, rows)


if __name__ == "__main__":
    main()
