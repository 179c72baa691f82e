"""Why a closed form does not fit new images: its rates, or what comes to rest with them?

The closed form presumes that the field has come to rest, where log(FP / FN) of the probabilities is
its shift (without cross-entropy). It has on training images; on new ones only if the network knows
as much about them. ``python -m gradsurge.experiments.held_out_shift RUN ...`` measures the shift
that the rates of the trained weights foresee and log(FP / FN), on training and on validation
patches drawn alike.
"""

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import torch
from torch import Tensor, nn

from gradsurge.calibration.recalibration import Recalibration
from gradsurge.data.patches import PatchSource, stream_batches
from gradsurge.data.store import Store
from gradsurge.experiments.runs import TrainedRun, open_run
from gradsurge.experiments.runs.corrections import equilibrium_of
from gradsurge.experiments.runs.run_loss import make_run_loss
from gradsurge.experiments.study.logit_shift import logit_shift
from gradsurge.losses.equilibrium import EquilibriumMeter


@dataclass(frozen=True)
class Rest:
    """Patches of a split under a trained network.

    Attributes:
        shift: what their rates foresee, where p = 1/2, mean over structures.
        balance: log(FP / FN), of the probability of foreground.
    """

    shift: float
    balance: float


def measure_rest(run: TrainedRun, store: Store, split: str, steps: int, seed: int = 0) -> Rest:
    """Measure a run's best weights on so many batches of patches, not augmented.

    Raises:
        ValueError: the run has no closed form, its regions overlap, or nothing is in doubt.
    """
    if "equilibrium" not in run.corrections:
        raise ValueError(f"{run.folder}: no closed form was measured; give a run with surgery")
    if run.task.activation != "softmax":
        raise ValueError(f"{run.folder}: its regions overlap; only classes that exclude each other")
    model, loss = run.model(), make_run_loss(run.config, levels=1)
    meter = _meter(loss)
    meter.momentum = 0.0  # each pass alone: here no weights change, so that all count alike
    rates, wrong = torch.zeros(()), torch.zeros(2, dtype=torch.float64)
    source = PatchSource(store, store.split(split), run.config.patches, "none")
    for batch in stream_batches(source, seed, 0, steps):
        with torch.no_grad():
            logits = model(batch["image"])
        wrong += _wrong(logits, batch["label"], run.task.ignore_index)
        loss(logits.requires_grad_(), batch["label"]).backward()
        rates = rates + meter.totals
    if not wrong.all():
        raise ValueError(f"{run.folder}: nothing is in doubt; look at more steps")
    meter.totals = rates
    found, why = equilibrium_of(loss)
    if found is None:
        raise ValueError(f"{run.folder}: {why}")
    return Rest(_mean_shift(found), math.log(wrong[0] / wrong[1]))


def _meter(loss: nn.Module) -> EquilibriumMeter:
    return next(part for part in loss.modules() if isinstance(part, EquilibriumMeter))


def _wrong(logits: Tensor, label: Tensor, ignored: int | None) -> Tensor:
    """Return FP and FN of the probability of foreground."""
    background = logits.double().softmax(1)[:, 0]
    counted = torch.ones_like(label, dtype=torch.bool) if ignored is None else label != ignored
    false_alarm = (1 - background)[counted & (label == 0)].sum()
    return torch.stack((false_alarm, background[counted & (label != 0)].sum()))


def _mean_shift(correction: Recalibration) -> float:
    return fmean(logit_shift(correction))


def main(words: Sequence[str] | None = None) -> None:
    """Print a line for each run."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("run", type=Path, nargs="+", help="folders of gradsurge train")
    parser.add_argument("--store", type=Path, help="where it lies now; the runs' own if left out")
    parser.add_argument("--steps", type=int, default=500)
    typed = parser.parse_args(words)
    for folder in typed.run:
        run = open_run(folder)
        store = Store.open(typed.store or run.config.store)
        here, new = (measure_rest(run, store, s, typed.steps) for s in ("train", "validation"))
        taken, fitted = (_mean_shift(run.corrections[c]) for c in ("equilibrium", "bias"))
        print(  # noqa: T201
            f"{run.config.loss}, seed {run.config.training.seed}: closed form {taken:+.2f}, fitted "
            f"{fitted:+.2f}; rates of training patches {here.shift:+.2f}, of validation patches "
            f"{new.shift:+.2f}; log(FP / FN) {here.balance:+.2f} and {new.balance:+.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
