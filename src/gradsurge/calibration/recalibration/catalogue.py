"""Methods by name: fit one, load one."""

from os import PathLike

from gradsurge.calibration.recalibration import recalibration_file
from gradsurge.calibration.recalibration.bias import Bias
from gradsurge.calibration.recalibration.equilibrium import Equilibrium
from gradsurge.calibration.recalibration.isotonic import Isotonic
from gradsurge.calibration.recalibration.platt import Platt
from gradsurge.calibration.recalibration.recalibration import Recalibration
from gradsurge.calibration.recalibration.temperature import Temperature
from gradsurge.calibration.sketch import CalibrationSketch

FITTED: dict[str, type[Temperature] | type[Platt] | type[Bias] | type[Isotonic]] = {
    "temperature": Temperature,
    "platt": Platt,
    "bias": Bias,
    "isotonic": Isotonic,
}
RECALIBRATIONS: dict[str, type[Recalibration]] = {**FITTED, "equilibrium": Equilibrium}


def fit_recalibration(method: str, sketch: CalibrationSketch, fitted_on: str = "") -> Recalibration:
    """Fit a method from a sketch, in milliseconds.

    Args:
        method: "temperature", "platt", "bias" or "isotonic".
        sketch: of the cases to fit on: validation cases, not those it will be judged by.
        fitted_on: what they are, in words; kept in the file.

    >>> import numpy as np
    >>> sketch = CalibrationSketch().update_probabilities(
    ...     np.repeat([0.2, 0.8], 100), np.repeat([0, 1, 0, 1], [60, 40, 40, 60])
    ... )
    >>> fitted = fit_recalibration("temperature", sketch)
    >>> fitted.apply_probabilities(np.array([0.2, 0.8])).round(4)
    array([0.4, 0.6])
    """
    if method == "equilibrium":
        raise ValueError(
            "method: equilibrium is not fitted on a sketch, it comes from a trained loss; use "
            "Equilibrium.from_rates(*loss.equilibrium()[:3])"
        )
    if method not in tuple(FITTED):  # a list is in no dictionary, and cannot be asked for
        raise ValueError(f"method: expected one of {', '.join(FITTED)}, got {method!r}")
    return FITTED[method].fit(sketch, fitted_on)


def load_recalibration(file: str | PathLike[str]) -> Recalibration:
    """Read what `Recalibration.save` wrote.

    Raises:
        ValueError: if the file is something else, damaged, or of a later version.
    """
    try:
        method, facts, parameters = recalibration_file.read(file)
        if method not in RECALIBRATIONS:
            raise ValueError(f"method: expected one of {', '.join(RECALIBRATIONS)}, got {method!r}")
        return RECALIBRATIONS[method].from_parameters(parameters, **facts)
    except (ValueError, RecursionError, OverflowError) as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"{file}: not a recalibration that can be read ({reason})") from error
