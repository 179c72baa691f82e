"""nnU-Net v2 with surgery: ``nnUNetv2_train DATASET 3d_fullres 0 -tr nnUNetTrainerSurgery``."""

from typing import Any

from gradsurge.integrations.nnunet.settings import TrainerSettings
from gradsurge.integrations.nnunet.training import SurgeryTraining

__all__ = [
    "SurgeryTraining",
    "TrainerSettings",
    "nnUNetTrainerDiceSurgery",
    "nnUNetTrainerSurgery",
]


def __getattr__(name: str) -> Any:
    """Make a trainer when it is first asked for: it needs nnU-Net."""
    if name.startswith("nnUNetTrainer") and name in __all__:
        from gradsurge.integrations.nnunet.trainer import trainer_class

        return trainer_class(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
