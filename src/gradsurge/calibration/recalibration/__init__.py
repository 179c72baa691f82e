"""Mending calibration after training: fitted from a sketch, applied to maps, saved as JSON."""

from gradsurge.calibration.recalibration.bias import Bias
from gradsurge.calibration.recalibration.catalogue import (
    FITTED,
    RECALIBRATIONS,
    fit_recalibration,
    load_recalibration,
)
from gradsurge.calibration.recalibration.comparison import (
    Comparison,
    ComparisonRow,
    compare_recalibrations,
)
from gradsurge.calibration.recalibration.equilibrium import Equilibrium
from gradsurge.calibration.recalibration.isotonic import Isotonic
from gradsurge.calibration.recalibration.platt import Platt
from gradsurge.calibration.recalibration.recalibrated_scores import (
    ScoreRow,
    original_scores,
    recalibrated_scores,
)
from gradsurge.calibration.recalibration.recalibration import Recalibration
from gradsurge.calibration.recalibration.temperature import Temperature

__all__ = [
    "FITTED",
    "RECALIBRATIONS",
    "Bias",
    "Comparison",
    "ComparisonRow",
    "Equilibrium",
    "Isotonic",
    "Platt",
    "Recalibration",
    "ScoreRow",
    "Temperature",
    "compare_recalibrations",
    "fit_recalibration",
    "load_recalibration",
    "original_scores",
    "recalibrated_scores",
]
