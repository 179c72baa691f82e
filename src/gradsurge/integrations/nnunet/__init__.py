"""nnU-Net v2 with surgery: ``nnUNetv2_train DATASET 3d_fullres 0 -tr nnUNetTrainerSurgery``."""

from typing import Any

from gradsurge.integrations.nnunet.settings import TrainerSettings
from gradsurge.integrations.nnunet.training import SurgeryTraining

__all__ = ["SurgeryTraining", "TrainerSettings", "nnUNetTrainerSurgery"]


def __getattr__(name: str) -> Any:
    """Make the trainer when it is first asked for: it needs nnU-Net."""
    if name == "nnUNetTrainerSurgery":
        from gradsurge.integrations.nnunet.trainer import trainer_class

        return trainer_class()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
