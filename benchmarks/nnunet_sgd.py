"""Does nnU-Net with its own SGD train as fast with surgery as with its own loss?

nnU-Net by its own commands, optimiser and schedule (momentum 0.99, Nesterov, 1e-2, polynomial), in
3d_fullres with plans made small: three trainings with its own loss (GRADSURGE_LOSS=nnunet), three
with nnUNetTrainerSurgery, three with nnUNetTrainerDiceSurgery, on hippocampus and on ISLES, where
lesions are a few thousandths of the volume. Trainings of one seed begin with the same weights and
see the same patches. After every 100 steps, an epoch, whole validation cases are predicted: Dice is
the mean over classes of the mean over cases, NLL that of all voxels together.

Two numbers are wanted of surgery, medians over the runs. The steps to 0.95 of the best Dice of its
own loss (the median of its runs' best; between two measurements a straight line): at most 1.1 times
those of its own loss. And the mean NLL of the last five measurements: lower than its own loss's.

Everything stays in ``--work``: the same command goes on where it was stopped, a training that was
interrupted begins anew. Results come to docs/results/nnunet-sgd.json one by one.

``python benchmarks/nnunet_sgd.py --nnunet-python PATH --data ../shared/data --work DIR``; a few
minutes: ``--steps 200 --runs 1 --cases 10 2 --json F``. ``--show`` prints what is there.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from math import inf
from pathlib import Path
from statistics import mean, median
from typing import Any

from _nnunet_runs import Bench
from _provenance import provenance
from rich.console import Console
from rich.table import Table

RESULTS = Path(__file__).parents[1] / "docs/results/nnunet-sgd.json"
SCRIPT = str(Path(__file__).with_name("_nnunet_sgd_train.py"))
EVERY, LAST = 100, 5
ENOUGH, MOST_STEPS = 0.95, 1.1
OWN = "nnunet"
TRAINERS = {
    OWN: "nnUNetTrainerSurgery",
    "ce+dice-surgery": "nnUNetTrainerSurgery",
    "dice-surgery": "nnUNetTrainerDiceSurgery",
}
QUICK = {
    "OMP_NUM_THREADS": "1",
    "nnUNet_n_proc_DA": "0",
    "nnUNet_compile": "0",
    "MALLOC_TRIM_THRESHOLD_": "1000000000",
    "MALLOC_TOP_PAD_": "100000000",
}
Runs = dict[str, dict[str, Any]]  # seed -> measurements, in columns


@dataclass(frozen=True)
class DataSet:
    """What nnU-Net trains on.

    Attributes:
        name: of the folder.
        patch: voxels, fewer than nnU-Net would take.
        steps: of a training.
        cases: for training and validation.
    """

    name: str
    patch: tuple[int, int, int]
    steps: int
    cases: tuple[int, int]


DATA = {
    "hippocampus": DataSet("Dataset004_Hippocampus", (32, 40, 32), 1200, (80, 8)),
    "isles": DataSet("Dataset022_ISLES", (40, 40, 32), 1000, (80, 6)),
}


def train(bench: Bench, loss: str, seed: int, steps: int) -> Any:
    """Train once; return the measurements."""
    results = f"{loss}_{seed}"
    file = bench.work / f"{results}.jsonl"
    told = {"epochs": steps // EVERY, "iterations": EVERY, "validation_iterations": 2, "loss": loss}
    variables = {f"GRADSURGE_{name.upper()}": str(value) for name, value in told.items()}
    command = ("3d_fullres", 0, "-tr", TRAINERS[loss], "-device", "cpu", "--disable_checkpointing")
    if loss == "dice-surgery":
        del variables["GRADSURGE_LOSS"]  # the trainer's own
    bench.run(SCRIPT, seed, file, bench.number, *command, results=results, **{**variables, **QUICK})
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    return {name: [line[name] for line in lines] for name in lines[0]}


def prepared(args: argparse.Namespace, say: Any) -> dict[str, tuple[Bench, int]]:
    """Let nnU-Net prepare the data sets; return where, and the steps of a training."""
    found = {}
    for number, (key, data) in enumerate(DATA.items()):
        steps = (args.steps * 2)[number] if args.steps else data.steps
        training, checked = args.cases or data.cases
        bench = Bench(
            args.nnunet_python.absolute(),
            args.work.absolute() / key,
            "nnUNetTrainer",
            partial(say, f"{key}:"),
            data.name,
        )
        settings = {"features": args.features, "batch": args.batch, "patch": data.patch}
        bench.check({"steps": steps, "cases": (training, checked), **settings})
        cases = {"train": training, "validation": checked, "test": 0}
        bench.prepare(args.data.absolute(), cases, args.features, args.batch, data.patch)
        found[key] = bench, steps
    return found


def trained(
    args: argparse.Namespace, benches: dict[str, tuple[Bench, int]]
) -> Iterator[dict[str, dict[str, Runs]]]:
    """Train what is missing, some at a time; yield all that is there after each."""
    found: dict[str, dict[str, Runs]] = {key: {loss: {} for loss in TRAINERS} for key in benches}
    with ThreadPoolExecutor(args.jobs) as pool:
        jobs = {}
        for seed in range(args.runs):
            for key, (bench, steps) in benches.items():
                for loss in TRAINERS:
                    job = pool.submit(one, bench, loss, seed, steps)
                    jobs[job] = key, loss, str(seed)
        for job in as_completed(jobs):
            key, loss, seed_there = jobs[job]
            found[key][loss][seed_there] = job.result()
            yield found


def one(bench: Bench, loss: str, seed: int, steps: int) -> Any:
    """Train once, if that was not done before."""
    return bench.once(f"train {loss} {seed}", lambda: train(bench, loss, seed, steps))


def steps_to(goal: float, run: dict[str, Any]) -> float:
    """Return the steps to a Dice, infinite if it is not reached."""
    before, low = 0.0, 0.0
    for step, dice in zip(run["step"], run["dice"], strict=True):
        if dice >= goal > 0:
            return float(before + (step - before) * (goal - low) / (dice - low))
        before, low = step, dice
    return inf


def rows_of(losses: dict[str, Runs]) -> dict[str, dict[str, float]]:
    """Return the medians over runs, for each loss that has any."""
    own = losses[OWN].values()
    goal = ENOUGH * median(max(run["dice"]) for run in own) if own else inf
    found = {
        loss: {
            "runs": len(runs),
            "best dice": median(max(run["dice"]) for run in runs.values()),
            "steps": median(steps_to(goal, run) for run in runs.values()),
            "nll": median(mean(run["nll"][-LAST:]) for run in runs.values()),
            "seconds": median(
                sum(run["training_seconds"] + run["measuring_seconds"]) for run in runs.values()
            ),
        }
        for loss, runs in losses.items()
        if runs
    }
    for row in found.values() if OWN in found else ():
        row["steps ratio"] = row["steps"] / found[OWN]["steps"]
        row["nll ratio"] = row["nll"] / found[OWN]["nll"]
    return found


def shown(found: dict[str, dict[str, Runs]]) -> Table:
    table = Table(
        "data", "loss", "runs", "best Dice", "steps", "/ own", "NLL", "/ own", "", "s / run"
    )
    for key, losses in found.items():
        for loss, row in rows_of(losses).items():
            ratios = row.get("steps ratio", inf), row.get("nll ratio", inf)
            fine = ratios[0] <= MOST_STEPS and ratios[1] < 1
            verdict = "" if loss == OWN else "passes" if fine else "fails"
            table.add_row(
                key,
                loss,
                f"{row['runs']}",
                f"{row['best dice']:.4f}",
                f"{row['steps']:.0f}",
                f"{ratios[0]:.2f}",
                f"{row['nll']:.5f}",
                f"{ratios[1]:.3f}",
                verdict,
                f"{row['seconds']:.0f}",
            )
    return table


def command_of(args: argparse.Namespace) -> str:
    """Return the command without the places of this machine."""
    words = ["python benchmarks/nnunet_sgd.py"]
    for name in ("cases", "steps", "features", "batch", "runs", "jobs"):
        value = getattr(args, name)
        if value is not None:
            listed = value if isinstance(value, Sequence) else [value]
            words.append(f"--{name} {' '.join(map(str, listed))}")
    return " ".join(words)


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nnunet-python", type=Path, help="interpreter with nnU-Net and gradsurge")
    parser.add_argument("--data", type=Path, help="folder that holds both data sets")
    parser.add_argument("--work", type=Path, help="folder that keeps everything")
    parser.add_argument("--cases", type=int, nargs=2, metavar=("TRAIN", "VAL"))
    parser.add_argument("--steps", type=int, nargs="+", help="of hippocampus and ISLES, or of both")
    parser.add_argument("--features", type=int, default=8, help="channels of the first stage")
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2, help="trainings at a time, a thread each")
    parser.add_argument("--json", type=Path, default=RESULTS, help="the results go there")
    parser.add_argument("--show", action="store_true", help="print the results that are there")
    return parser.parse_args()


def main() -> None:
    args, out = options(), Console(width=110)
    if not args.show and None not in (args.nnunet_python, args.data, args.work):
        benches = prepared(args, out.print)
        bench = benches["isles"][0]
        facts = {"command": command_of(args), "versions": bench.once("versions", bench.versions)}
        for found in trained(args, benches):
            content = {**provenance(), **facts, "found": found}
            args.json.write_text(json.dumps(content, indent=1) + "\n")
    if not args.json.exists():
        out.print("skipped: nothing to show, and to train it needs --nnunet-python, --data, --work")
        return
    kept = json.loads(args.json.read_text())
    out.print(shown(kept["found"]))
    out.print(f"commit {kept['commit']}, {kept['date']}, {kept['machine']}")


if __name__ == "__main__":
    main()
