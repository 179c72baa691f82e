"""Values for JSON: six digits, and nothing where there is no number."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

DIGITS = 6
"""Significant digits: seeds differ in the third, rounding must not show in a mean of them."""


def plain(value: Any) -> Any:
    """Return plain JSON of nested numbers, texts, lists and mappings; NaN and infinity are None.

    >>> plain({"nll": np.float64(0.123456789), "counts": (1234567, float("nan"))})
    {'nll': 0.123457, 'counts': [1234567, None]}
    """
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, float):
        return rounded(value)
    return value


def rounded(value: float) -> float | None:
    """Return a number with six significant digits; None for what is none.

    >>> rounded(87.59876543), rounded(float("inf"))
    (87.5988, None)
    """
    if not math.isfinite(value):
        return None
    return float(f"{value:.{DIGITS}g}")
