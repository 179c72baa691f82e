"""Checks of what a model is planned with and of what it is shown."""

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any

from torch import Tensor


def check_whole(name: str, value: Any, *, least: int = 1) -> int:
    """Return ``value`` if it is a whole number of at least ``least``."""
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name}: expected a whole number >= {least}, got {value!r}")
    return value


def check_share(name: str, value: Any) -> float:
    """Return ``value`` if it is a number from 0 to below 1."""
    if not _is_number(value) or not 0 <= value < 1:
        raise ValueError(f"{name}: expected a number from 0 to below 1, got {value!r}")
    return float(value)


def check_positive(name: str, value: Any) -> float:
    """Return ``value`` if it is a finite number above 0."""
    if not _is_number(value) or not 0 < value < math.inf:
        raise ValueError(f"{name}: expected a finite number above 0, got {value!r}")
    return float(value)


def check_choice(name: str, value: Any, choices: Sequence[Any]) -> Any:
    """Return ``value`` if it is one of ``choices``, and of the same type as that one."""
    if not any(type(value) is type(c) and value == c for c in choices):
        known = " or ".join(map(repr, choices))
        raise ValueError(f"{name}: expected {known}, got {value!r}")
    return value


def check_patch(patch: Any, axes: Sequence[int] = (2, 3)) -> tuple[int, ...]:
    """Return ``patch`` as a tuple of two or three whole numbers above 0."""
    sizes = tuple(patch) if isinstance(patch, Sequence) and not isinstance(patch, str) else ()
    whole = all(isinstance(n, int) and not isinstance(n, bool) and n > 0 for n in sizes)
    if len(sizes) not in axes or not whole:
        count = " or ".join(str(n) for n in axes)
        raise ValueError(f"patch: expected {count} whole numbers above 0, got {patch!r}")
    return sizes


def check_spacing(spacing: Any, patch: tuple[int, ...]) -> tuple[float, ...]:
    """Return ``spacing`` as floats, one an axis of the patch; all 1 if none is given."""
    if spacing is None:
        return (1.0,) * len(patch)
    if isinstance(spacing, str | Real) or len(spacing) != len(patch):
        raise ValueError(
            f"spacing: expected one number for each axis of the patch {patch}, got {spacing!r}"
        )
    return tuple(check_positive("spacing", float(s)) for s in spacing)


def check_image(image: Tensor, in_channels: int, divisor: tuple[int, ...]) -> None:
    """Raise unless a network with these channels and strides can take ``image``."""
    axes = len(divisor)
    fits = (
        image.ndim == axes + 2
        and image.shape[1] == in_channels
        and all(n > 0 and n % d == 0 for n, d in zip(image.shape[2:], divisor, strict=True))
    )
    if not fits:
        sizes = ", ".join("DHW"[-axes:])
        raise ValueError(
            f"image: expected (N, {in_channels}, {sizes}) with {sizes} divisible by {divisor}, "
            f"got {tuple(image.shape)}"
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
