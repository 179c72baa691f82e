"""Measuring and mending calibration; knows nothing of the losses that made the model."""

from gradsurge.calibration.equilibrium import posterior_from_equilibrium

__all__ = ["posterior_from_equilibrium"]
