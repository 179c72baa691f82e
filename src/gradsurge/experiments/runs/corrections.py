"""Corrections of a trained model: the loss's own equilibrium, and what validation cases fit."""

from torch import nn

from gradsurge.calibration import CalibrationSketch, fit_recalibration
from gradsurge.calibration.recalibration import Equilibrium, Recalibration

NONE = "none"
FITTED = ("bias", "temperature")
CORRECTIONS = (NONE, "equilibrium", *FITTED)


def equilibrium_of(loss: nn.Module) -> tuple[Equilibrium | None, str | None]:
    """Return the closed-form correction of a loss that has trained, or why there is none.

    Args:
        loss: with the state it had when the model's weights were kept.
    """
    measured = getattr(loss, "equilibrium", None)
    if measured is None or not has_surgery(loss):
        return None, None
    try:
        rates = measured()
        return Equilibrium.from_rates(*rates[:3], fitted_on="rates of the training"), None
    except (RuntimeError, ValueError) as error:
        return None, f"no equilibrium correction: {error}"


def has_surgery(loss: nn.Module) -> bool:
    """Tell whether a loss operates on its gradient."""
    return any(getattr(part, "surgery", None) is not None for part in loss.modules())


def fitted_corrections(sketch: CalibrationSketch) -> dict[str, Recalibration]:
    """Return those that are fitted on validation cases, by name."""
    return {name: fit_recalibration(name, sketch, "validation cases") for name in FITTED}


def default_correction(nll: dict[str, float]) -> str:
    """Return "equilibrium" where it lowered the validation NLL, else "none".

    What was fitted on these cases is not chosen by them: it would win always.

    >>> default_correction({"none": 0.03, "equilibrium": 0.02, "bias": 0.01})
    'equilibrium'
    """
    found = nll.get("equilibrium")
    return "equilibrium" if found is not None and found < nll[NONE] else NONE
