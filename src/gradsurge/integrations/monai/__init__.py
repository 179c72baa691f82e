"""gradsurge for MONAI: losses, metric, handler and post-processing, by MONAI's conventions."""

from gradsurge.integrations.monai.dice_ce_loss import SurgeryDiceCELoss
from gradsurge.integrations.monai.dice_loss import SurgeryDiceLoss
from gradsurge.integrations.monai.handler import CalibrationHandler
from gradsurge.integrations.monai.metric import CalibrationSketchMetric
from gradsurge.integrations.monai.recalibrate import (
    Recalibrate,
    RecalibrateD,
    Recalibrated,
    RecalibrateDict,
)
from gradsurge.integrations.monai.tversky_loss import SurgeryTverskyLoss

__all__ = [
    "CalibrationHandler",
    "CalibrationSketchMetric",
    "Recalibrate",
    "RecalibrateD",
    "RecalibrateDict",
    "Recalibrated",
    "SurgeryDiceCELoss",
    "SurgeryDiceLoss",
    "SurgeryTverskyLoss",
]
