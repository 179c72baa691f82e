"""Segmentation losses and measurements for probabilities you can trust.

>>> import gradsurge as gs
>>> loss = gs.make_loss("ce+dice-surgery")  # loss(logits, target) -> scalar
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gradsurge.calibration import CalibrationSketch
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
    "CalibrationSketch",
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

# torch takes two seconds to import, `gradsurge --help` must not: a name is loaded at its first use.
_PACKAGES = ("calibration", "losses", "surgery")
_HOME = (
    dict.fromkeys(__all__, "gradsurge.losses")
    | dict.fromkeys(("SurgeryRule", "surgery_sigmoid", "surgery_softmax"), "gradsurge.surgery")
    | {"CalibrationSketch": "gradsurge.calibration"}
)


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f"gradsurge.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'gradsurge' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_PACKAGES})
