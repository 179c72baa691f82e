"""Why a closed form does not fit new images: its rates, or what comes to rest with them?

The closed form presumes that the field has come to rest, where log(FP / FN) of the probabilities is
its shift (without cross-entropy). It may have on training images; on new ones it has only if the
network knows as much about them. ``python -m gradsurge.experiments.held_out_shift RUN ...``
measures both, what the rates of the trained weights foresee and log(FP / FN), on training and on
validation patches drawn alike.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

import torch
from torch import Tensor, nn

from gradsurge.calibration.recalibration import Recalibration
from gradsurge.data.store import Store
from gradsurge.experiments.plain_patches import plain_patches
from gradsurge.experiments.runs import TrainedRun, open_run
from gradsurge.experiments.runs.corrections import equilibrium_of
from gradsurge.experiments.runs.run_loss import make_run_loss
from gradsurge.experiments.study.logit_shift import logit_shift
from gradsurge.losses.equilibrium import EquilibriumMeter


@dataclass(frozen=True)
class Balance:
    """Patches under a trained network; means over structures, each against background.

    Attributes:
        foreseen: the shift of the logit that the rates of these patches foresee, where p = 1/2.
        found: log(FP / FN) of the probabilities.
    """

    foreseen: float
    found: float


def measure_balance(
    run: TrainedRun, store: Store, split: str, steps: int, seed: int = 0
) -> Balance:
    """Measure a run's best weights on so many batches of patches, not augmented.

    Under deep supervision the loss is that of the finest level alone.

    Raises:
        ValueError: the run has no closed form, its regions overlap, or the patches hold no false
            alarms, no misses, or one of the structures never.
    """
    if "equilibrium" not in run.corrections:
        raise ValueError(f"{run.folder}: no closed form was measured; give a run with surgery")
    if run.task.activation != "softmax":
        raise ValueError(f"{run.folder}: its regions overlap; only classes that exclude each other")
    model, loss = run.model(), make_run_loss(run.config, levels=1)
    meter = _meter(loss)
    rates, errors = torch.zeros(()), torch.zeros(())
    for batch in plain_patches(store, split, run.config.patches, steps, seed):
        with torch.no_grad():
            logits = model(batch["image"])
        errors = errors + _errors(logits, batch["label"])
        meter.totals.zero_()  # no weights change here, so that all passes count alike
        loss(logits.requires_grad_(), batch["label"]).backward()
        rates = rates + meter.totals
    if not errors.all():
        raise ValueError(f"{run.folder}: no false alarms or no misses; look at more steps")
    meter.totals = rates
    foreseen, why = equilibrium_of(loss)
    if foreseen is None:
        raise ValueError(f"{run.folder}: {why}")
    return Balance(_mean_shift(run, foreseen), float((errors[0] / errors[1]).log().mean()))


def _meter(loss: nn.Module) -> EquilibriumMeter:
    return next(part for part in loss.modules() if isinstance(part, EquilibriumMeter))


def _errors(logits: Tensor, label: Tensor) -> Tensor:
    """Return FP and FN of each structure against background, (2, structures)."""
    p = logits.double().softmax(1)
    structures = range(1, p.shape[1])
    false_alarms = [p[:, c][label == 0].sum() for c in structures]
    misses = [p[:, 0][label == c].sum() for c in structures]
    return torch.stack((torch.stack(false_alarms), torch.stack(misses)))


def _mean_shift(run: TrainedRun, correction: Recalibration) -> float:
    shifts = logit_shift(correction)
    if not shifts:
        raise ValueError(f"{run.folder}: {correction.method} puts a structure out of the question")
    return fmean(shifts)


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
        old, new = (measure_balance(run, store, s, typed.steps) for s in ("train", "validation"))
        taken, fitted = (_mean_shift(run, run.corrections[c]) for c in ("equilibrium", "bias"))
        print(  # noqa: T201
            f"{run.config.loss}, seed {run.config.training.seed}: closed form {taken:+.2f}, fitted "
            f"{fitted:+.2f}; rates of training patches {old.foreseen:+.2f}, of validation patches "
            f"{new.foreseen:+.2f}; log(FP / FN) {old.found:+.2f} and {new.found:+.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
