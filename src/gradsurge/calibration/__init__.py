"""Measuring and mending calibration; knows nothing of the losses that made the model."""

from gradsurge.calibration.bounded import Bounded
from gradsurge.calibration.equilibrium import posterior_from_equilibrium
from gradsurge.calibration.lesion_table import KITS_EDGES_MM3, lesion_table
from gradsurge.calibration.lesions import Lesion, find_lesions
from gradsurge.calibration.logit_table import LogitSums
from gradsurge.calibration.overlap import dice, surface_scores
from gradsurge.calibration.recalibration import (
    RECALIBRATIONS,
    Equilibrium,
    Recalibration,
    compare_recalibrations,
    fit_recalibration,
    load_recalibration,
)
from gradsurge.calibration.regions import REGIONS, active_region, boundary_band
from gradsurge.calibration.sketch import CalibrationSketch

__all__ = [
    "KITS_EDGES_MM3",
    "RECALIBRATIONS",
    "REGIONS",
    "Bounded",
    "CalibrationSketch",
    "Equilibrium",
    "Lesion",
    "LogitSums",
    "Recalibration",
    "active_region",
    "boundary_band",
    "compare_recalibrations",
    "dice",
    "find_lesions",
    "fit_recalibration",
    "lesion_table",
    "load_recalibration",
    "posterior_from_equilibrium",
    "surface_scores",
]
