"""Checks of what a loss is built with: every refusal names the argument and what came."""

import math
from numbers import Real

from gradsurge.surgery.targets import check_ignore_index


def check_activation(activation: str, ignore_index: int | None) -> None:
    """Raise unless the activation is known and ``ignore_index`` makes sense with it."""
    if activation not in ("softmax", "sigmoid"):
        raise ValueError(f"activation: expected 'softmax' or 'sigmoid', got {activation!r}")
    check_ignore_index(ignore_index)
    if activation == "sigmoid" and ignore_index in (0, 1):
        raise ValueError(
            f"ignore_index: with sigmoid, 0 and 1 are labels, so every {ignore_index} would be "
            f"left out; mark unlabelled voxels with another number, such as 255"
        )


def check_real(expected: str, value: float) -> None:
    """Raise with what was ``expected`` unless ``value`` is a number; a bool is none."""
    if not isinstance(value, Real) or isinstance(value, bool):
        raise TypeError(f"{expected}, got {value!r}")


def check_number(name: str, value: float, *, least: float, open_end: bool = False) -> float:
    """Return ``value`` if it is finite and at least ``least`` (more than it with ``open_end``)."""
    expected = f"{name}: expected a number {'>' if open_end else '>='} {least:g}"
    check_real(expected, value)
    if not (math.isfinite(value) and (value > least if open_end else value >= least)):
        raise ValueError(f"{expected}, got {value!r}")
    return value


def check_whole_number(name: str, value: int, *, least: int) -> int:
    """Return ``value`` as int if it is whole and at least ``least``.

    >>> check_whole_number("bins", 20.0, least=1)
    20
    """
    expected = f"{name}: expected a whole number >= {least}"
    check_real(expected, value)
    if not (math.isfinite(value) and value >= least and int(value) == value):
        raise ValueError(f"{expected}, got {value!r}")
    return int(value)
