"""The NLL of several classes at any temperature, between the rungs that a sketch has summed."""

from typing import NamedTuple

import numpy as np
from scipy.interpolate import BSpline, make_interp_spline
from scipy.optimize import minimize_scalar

from gradsurge.calibration.histogram import Floats
from gradsurge.calibration.temperature_curve import INVERSE_TEMPERATURES

# Largest relative error of the interpolated NLL, and of the temperature that minimises it: several
# times what data of 3 to 5 classes and logits up to ±60 showed.
NLL_TOLERANCE = 2e-4
_DEGREE = 5  # the cubic spline is ten times worse
_ROUNDING = 2.0**-24  # of a voxel's NLL: the rungs are computed in float32
_RUNGS = np.log(INVERSE_TEMPERATURES)


class LadderFit(NamedTuple):
    """The best temperature, and what to say about it."""

    temperature: float
    note: str | None = None
    at_bound: bool = False


def ladder_nll(ladder: Floats, temperature: float) -> float:
    """Return the sum of -log p_true at a temperature, from the sums at the rungs."""
    return float(_curve(ladder)(-np.log(temperature)))


def fit_ladder(ladder: Floats, voxels: int) -> LadderFit:
    """Return the temperature with the least NLL, within the range of the rungs."""
    lowest, last = int(np.argmin(ladder)), _RUNGS.size - 1
    if ladder[last] <= ladder[lowest] + _ROUNDING * voxels:
        return _at_bound(last, "the classes are separable, or nearly; a lower one would fit better")
    curve = _curve(ladder)
    bracket = _RUNGS[max(lowest - 1, 0)], _RUNGS[lowest + 1]
    found = minimize_scalar(curve, bounds=bracket, method="bounded", options={"xatol": 1e-9})
    if lowest == 0 and ladder[0] <= found.fun:
        return _at_bound(0, "the outputs say next to nothing; a higher one would fit better")
    return LadderFit(float(np.exp(-found.x)))


def _at_bound(rung: int, reason: str) -> LadderFit:
    temperature = float(1.0 / INVERSE_TEMPERATURES[rung])
    return LadderFit(temperature, f"temperature at its bound {temperature:g}: {reason}", True)


def _curve(ladder: Floats) -> BSpline:
    return make_interp_spline(_RUNGS, ladder, _DEGREE)
