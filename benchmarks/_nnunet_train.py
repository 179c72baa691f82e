"""``nnUNetv2_train`` with nnU-Net's trainer for AdamW and our loss; run by nnU-Net's interpreter.

The trainer is shown to nnU-Net where it looks first, so that nothing is written into its package.
"""

# mypy: disable-error-code="import-not-found"
# nnunetv2 is in the other environment only.

from nnunetv2.run.run_training import run_training_entry
from nnunetv2.training.nnUNetTrainer import nnUNetTrainer as first_place
from nnunetv2.training.nnUNetTrainer.variants.optimizer.nnUNetTrainerAdam import nnUNetTrainerAdam

from gradsurge.integrations.nnunet import SurgeryTraining


class nnUNetTrainerAdamSurgery(SurgeryTraining, nnUNetTrainerAdam):  # type: ignore[misc]
    """As the documentation tells to write it."""


if __name__ == "__main__":
    first_place.nnUNetTrainerAdamSurgery = nnUNetTrainerAdamSurgery
    run_training_entry()
