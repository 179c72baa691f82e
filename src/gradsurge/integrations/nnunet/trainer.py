"""The trainers that ``nnUNetv2_train -tr`` asks for by name."""

# mypy: disable-error-code="import-not-found"
# nnU-Net has an environment of its own.

from functools import cache
from typing import Any

from gradsurge.integrations.nnunet.training import SurgeryTraining

DEFAULT_LOSSES = {
    "nnUNetTrainerSurgery": "ce+dice-surgery",
    "nnUNetTrainerDiceSurgery": "dice-surgery",
}


@cache
def trainer_class(name: str) -> type[Any]:
    """Return nnU-Net's default trainer with `SurgeryTraining`; made here, as nnU-Net is optional.

    Args:
        name: of `DEFAULT_LOSSES`.

    Raises:
        ImportError: nnU-Net is not installed, or not recent enough.
    """
    try:
        from nnunetv2.training.logging.nnunet_logger import MetaLogger
        from nnunetv2.training.nnUNetTrainer.nnUNetTrainer import nnUNetTrainer
    except ImportError as error:
        raise ImportError(
            f"{name} needs nnU-Net 2.8 or later ({error}): pip install 'gradsurge[nnunet]'"
        ) from error
    del MetaLogger  # older ones have a logger without it
    body = {
        "__module__": __name__,
        "__doc__": SurgeryTraining.__doc__,
        "default_loss": DEFAULT_LOSSES[name],
    }
    return type(name, (SurgeryTraining, nnUNetTrainer), body)
