"""Networks: plain modules from images to logits, planned from the patch and built by name."""

from gradsurge.models.catalogue import MODELS, make_model, plan_model, round_patch
from gradsurge.models.config import ModelConfig
from gradsurge.models.primus import Primus
from gradsurge.models.residual_unet import ResidualUNet

__all__ = [
    "MODELS",
    "ModelConfig",
    "Primus",
    "ResidualUNet",
    "make_model",
    "plan_model",
    "round_patch",
]
