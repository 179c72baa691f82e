"""``nnUNetv2_train`` that measures whole cases after each epoch; run by nnU-Net's interpreter.

Two arguments come before nnU-Net's own: a seed, and the file that gets a JSON line an epoch. One
thread, no pictures, and no validation at the end, because the epochs were measured. The trainers
are shown to nnU-Net where it looks first, so that nothing is written into its package.
"""

# mypy: disable-error-code="import-not-found"
# nnunetv2 is in the other environment only.

import json
import random
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from _nnunet_whole_cases import predicted_cases
from _training_dice import mean_dice
from nnunetv2.run.run_training import run_training_entry
from nnunetv2.training.nnUNetTrainer import nnUNetTrainer as first_place

from gradsurge.integrations import nnunet as ours

TRAINERS = ("nnUNetTrainerSurgery", "nnUNetTrainerDiceSurgery")

if TYPE_CHECKING:
    _Trainer = Any
else:
    _Trainer = object


class _Measuring(_Trainer):  # type: ignore[misc]  # nnU-Net is not here
    """Before a trainer: appends to ``file`` what whole cases say, after each epoch.

    Seconds are the processor's, as the machine may have other work.
    """

    file: Path

    def on_train_start(self) -> None:
        """Begin with one thread, which nnU-Net has set to all cores, and without pictures."""
        torch.set_num_threads(1)
        super().on_train_start()
        self.logger.plot_progress_png = lambda folder: None
        self.file.unlink(missing_ok=True)
        self.ready = time.process_time()

    def on_epoch_end(self) -> None:
        """End the epoch, then predict."""
        super().on_epoch_end()
        start = time.process_time()
        found = {
            "step": self.current_epoch * self.num_iterations_per_epoch,
            **_scores(self),
            "training_seconds": round(start - self.ready, 2),
            "measuring_seconds": round(time.process_time() - start, 2),
        }
        self.ready = time.process_time()
        with self.file.open("a") as lines:
            lines.write(json.dumps(found) + "\n")

    def perform_actual_validation(self, save_probabilities: bool = False) -> None:
        """Leave it out."""


@torch.no_grad()
def _scores(trainer: Any) -> dict[str, float]:
    """Dice, the mean over classes of the mean over cases; NLL of all voxels of all cases."""
    masks, labels = [], []
    cost, voxels = 0.0, 0
    for logits, label in predicted_cases(trainer, trainer.do_split()[1]):
        there = torch.from_numpy(label.astype(np.int64)).unsqueeze(0)
        cost -= float(logits.float().log_softmax(0).gather(0, there).double().sum())
        voxels += there.numel()
        masks.append(logits.argmax(0).numpy())
        labels.append(label)
    dice = mean_dice(masks, labels, trainer.label_manager.foreground_labels)
    return {"dice": round(dice, 5), "nll": round(cost / voxels, 6)}


def main() -> None:
    """Train."""
    seed, file = int(sys.argv.pop(1)), Path(sys.argv.pop(1))
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002  nnU-Net draws from there
    torch.manual_seed(seed)
    for name in TRAINERS:
        kind = type(name, (_Measuring, getattr(ours, name)), {"file": file})
        setattr(first_place, name, kind)
    run_training_entry()


if __name__ == "__main__":
    main()
