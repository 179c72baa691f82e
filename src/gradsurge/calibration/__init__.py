"""Measuring and mending calibration; knows nothing of the losses that made the model."""

from gradsurge.calibration.bounded import Bounded
from gradsurge.calibration.equilibrium import posterior_from_equilibrium
from gradsurge.calibration.sketch import CalibrationSketch

__all__ = ["Bounded", "CalibrationSketch", "posterior_from_equilibrium"]
