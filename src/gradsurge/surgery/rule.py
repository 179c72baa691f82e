"""The parameters of the surgery, checked once."""

import math
from dataclasses import dataclass
from numbers import Real


@dataclass(frozen=True)
class SurgeryRule:
    """What replaces p(1-p) in the backward pass: s e (1 - e^n)(1 - (1-e)^n), with e = abs(y - p).

    Args:
        decline: the exponent n > 0 of the decline near 0 and 1; None leaves both factors out.
        scale: the factor s > 0.

    >>> SurgeryRule()
    SurgeryRule(decline=20.0, scale=0.25)
    """

    decline: float | None = 20.0
    scale: float = 0.25

    def __post_init__(self) -> None:
        """Refuse what is not a positive finite number."""
        if self.decline is not None:
            _check_positive("decline", self.decline, " or None (no decline)")
        _check_positive("scale", self.scale)


def _check_positive(name: str, value: float, otherwise: str = "") -> None:
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{name}: expected a number > 0{otherwise}, got {value!r}")
    if not (value > 0 and math.isfinite(value)):
        raise ValueError(f"{name}: expected a number > 0{otherwise}, got {value!r}")


def check_blend(blend: float) -> float:
    """Return ``blend`` if it lies in [0, 1]: 0 is the plain gradient, 1 the surgery."""
    if not isinstance(blend, Real):
        raise TypeError(f"blend: expected a number from 0 to 1, got {blend!r}")
    if not 0.0 <= blend <= 1.0:
        raise ValueError(f"blend: expected a number from 0 (plain) to 1 (surgery), got {blend!r}")
    return blend
