"""nnU-Net with its own loss against nnU-Net with surgery, by nnU-Net's own commands.

Hippocampus, one fold, equal epochs, steps, augmentation and schedule; the two trainings differ in
the loss alone (GRADSURGE_LOSS=nnunet is nnU-Net's own). AdamW, by nnU-Net's trainer for it, unless
``--optimiser sgd``: its SGD needs more steps than two cores have time for. Then the first network
is trained a little longer, once with surgery (GRADSURGE_START_FROM) and once with its own loss
again, so that what more training does is told from what surgery does. Beside the first two stands a
temperature, fitted on the fold's validation cases by what `gradsurge recalibrate --nnunet` runs.

Test cases are predicted by ``nnUNetv2_predict --save_probabilities`` and measured by what
`gradsurge evaluate` runs: NLL of the classes together, ECE the mean over the two structures, pooled
over the test cases; Dice the mean over cases and structures. Seconds per epoch are nnU-Net's own,
the median, and all trainings count NLL and ECE in them. One training each, and no seeds (nnU-Net
sets none): differences of a tenth of a Dice point mean nothing.

Everything stays in ``--work``; the same command goes on where it was stopped.

``python benchmarks/nnunet_surgery.py --nnunet-python PATH --data ../shared/data --work DIR
[--json F]``; a few minutes: ``--cases 8 2 2 --epochs 2 --iterations 2 --validation-iterations 1
--more-epochs 1 --features 4``
"""

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from _nnunet_runs import NAME, TRAINERS, Bench
from _provenance import provenance, provenance_line
from rich.console import Console
from rich.table import Table

from gradsurge.experiments.evaluation.run import evaluate
from gradsurge.experiments.evaluation.settings import Settings
from gradsurge.experiments.nnunet.recalibrating import fit_on_folds
from gradsurge.experiments.recalibrate_maps import MapSettings, recalibrate_folder

SCORES = ("nll", "ece", "mce", "dice")
PATHS = ("nnunet_python", "data", "work", "json")
Scores = dict[str, float]


def measure(predictions: str | Path, labels: Path) -> Scores:
    """Return the scores of a folder of predictions."""
    found = evaluate({"m": Path(predictions)}, labels, Settings(regions=("all",), lesions=False))
    model = found.models["m"]
    sketch = model.sketches["all"]
    dice = [model.means["all", name, "dice"].mean or 0.0 for name in found.labels]
    scores = (sketch.nll(), sketch.ece(), sketch.mce(minimum=100), float(np.mean(dice)))
    return {name: float(value) for name, value in zip(SCORES, scores, strict=True)}


def trained(bench: Bench, results: str, **settings: object) -> Scores:
    """Train, predict and measure one variant, as far as that was not done before."""
    seconds = bench.once(f"train {results}", lambda: bench.train(results, **settings))
    folder = bench.once(f"predict {results}", lambda: bench.predict(results))
    scores = bench.once(f"measure {results}", lambda: measure(folder, bench.test_labels))
    return {**scores, "seconds_per_epoch": seconds}


def with_temperature(bench: Bench, results: str) -> Scores:
    """Fit a temperature on the fold's validation cases, and measure the test cases with it."""

    def act() -> Scores:
        out = bench.work / "predictions" / f"{results}, temperature"
        fit = fit_on_folds(bench.fold(results) / "validation", "temperature")
        settings = MapSettings(fit.recalibration, out)
        done = recalibrate_folder(bench.work / "predictions" / results, settings, overwrite=True)
        if done.problems:
            sys.exit(done.problems[0])
        return measure(out, bench.test_labels)

    found: Scores = bench.once(f"temperature {results}", act)
    return found


def variants(bench: Bench, args: argparse.Namespace) -> dict[str, Scores]:
    """Return the scores of all trainings, by what they are."""
    first: dict[str, object] = {
        "epochs": args.epochs,
        "iterations": args.iterations,
        "validation_iterations": args.validation_iterations,
        "learning_rate": args.learning_rate,
        "save_every": 5,
    }
    if args.optimiser == "adamw":  # the trainers take the strength for SGD
        first |= {"decline": 20, "scale": 0.25, "normalise": "false"}
    found = {
        "own loss": trained(bench, "own", loss="nnunet", **first),
        "surgery": trained(bench, "surgery", **first),
    }
    more = {
        **first,
        "epochs": args.more_epochs,
        "start_from": bench.fold("own") / "checkpoint_final.pth",
        "learning_rate": args.more_learning_rate,
    }
    longer = f"own loss, then {args.more_epochs} epochs of"
    found[f"{longer} own loss"] = trained(bench, "own_longer", loss="nnunet", **more)
    found[f"{longer} surgery"] = trained(bench, "own_then_surgery", **more)
    found["own loss, temperature"] = with_temperature(bench, "own")
    found["surgery, temperature"] = with_temperature(bench, "surgery")
    return found


def shown(found: Mapping[str, Scores]) -> Table:
    table = Table("nnU-Net trained with", "NLL", "ECE", "MCE", "Dice", "s / epoch")
    for name, scores in found.items():
        numbers = (f"{scores[score]:.4f}" for score in SCORES)
        seconds = scores.get("seconds_per_epoch")
        table.add_row(name, *numbers, "" if seconds is None else f"{seconds:.2f}")
    return table


def written(args: argparse.Namespace, bench: Bench, found: Mapping[str, Scores]) -> dict[str, Any]:
    """Return what the JSON holds: no path of this machine."""
    settings = {name: value for name, value in vars(args).items() if name not in PATHS}
    words = [
        f"--{name.replace('_', '-')} {' '.join(map(str, value if name == 'cases' else [value]))}"
        for name, value in settings.items()
    ]
    command = " ".join(["python benchmarks/nnunet_surgery.py", *words])
    versions = bench.once("versions", bench.versions)
    return {**provenance(), "command": command, "nnunet_versions": versions, "found": found}


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nnunet-python", type=Path, help="interpreter with nnU-Net and gradsurge")
    parser.add_argument("--data", type=Path, help=f"folder that holds {NAME}")
    parser.add_argument("--work", type=Path, help="folder that keeps everything")
    parser.add_argument(
        "--cases", type=int, nargs=3, default=(60, 6, 30), metavar=("TRAIN", "VAL", "TEST")
    )
    parser.add_argument("--features", type=int, default=8, help="channels of the first stage")
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--optimiser", choices=TRAINERS, default="adamw")
    parser.add_argument("--learning-rate", type=float, default=3e-3)
    parser.add_argument("--epochs", type=int, default=25)
    parser.add_argument("--iterations", type=int, default=40, help="steps of an epoch")
    parser.add_argument("--validation-iterations", type=int, default=5)
    parser.add_argument("--more-epochs", type=int, default=6, help="to calibrate what is trained")
    parser.add_argument("--more-learning-rate", type=float, default=3e-4, help="of these epochs")
    parser.add_argument("--json", type=Path, help="write the results there")
    return parser.parse_args()


def main() -> None:
    args, out = options(), Console(width=110)
    if None in (args.nnunet_python, args.data, args.work):
        out.print("skipped, it needs --nnunet-python, --data and --work")
        return
    places = args.nnunet_python.absolute(), args.work.absolute()
    bench = Bench(*places, TRAINERS[args.optimiser], out.print)
    bench.check({name: value for name, value in vars(args).items() if name not in PATHS})
    cases = dict(zip(("train", "validation", "test"), args.cases, strict=True))
    bench.prepare(args.data.absolute(), cases, args.features, args.batch)
    found = variants(bench, args)
    out.print(shown(found))
    out.print(provenance_line())
    if args.json:
        args.json.write_text(json.dumps(written(args, bench, found), indent=1) + "\n")


if __name__ == "__main__":
    main()
