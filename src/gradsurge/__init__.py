"""Segmentation losses whose networks give probabilities you can trust.

>>> import gradsurge as gs
>>> loss = gs.make_loss("ce+dice-surgery")  # loss(logits, target) -> scalar
"""

from gradsurge.losses import (
    LOSSES,
    DeepSupervision,
    Dice,
    Surgery,
    Tversky,
    WithCrossEntropy,
    make_loss,
)
from gradsurge.surgery import SurgeryRule, surgery_sigmoid, surgery_softmax

__version__ = "0.1.0"
__all__ = [
    "LOSSES",
    "DeepSupervision",
    "Dice",
    "Surgery",
    "SurgeryRule",
    "Tversky",
    "WithCrossEntropy",
    "make_loss",
    "surgery_sigmoid",
    "surgery_softmax",
]
