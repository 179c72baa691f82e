"""What is asked of a sliding window, checked once."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True)
class WindowRequest:
    """Settings of a sliding window over images; the arguments of `sliding_window_logits`."""

    window: tuple[int, ...]
    overlap: float = 0.5
    sigma: float = 0.125
    batch: int = 1
    mirror_axes: tuple[int, ...] = ()
    divisor: tuple[int, ...] | int = 1

    def __post_init__(self) -> None:
        axes = len(self.window)
        if axes not in (2, 3) or not all(w >= 1 for w in self.window):
            raise ValueError(f"window: expected 2 or 3 sizes above 0, got {self.window}")
        if not 0.0 <= self.overlap < 1.0:
            raise ValueError(f"overlap: expected a share from 0 to below 1, got {self.overlap}")
        if math.isnan(self.sigma) or self.sigma <= 0.0:
            raise ValueError(f"sigma: expected a share of the window above 0, got {self.sigma}")
        if self.batch < 1:
            raise ValueError(f"batch: expected at least 1 window, got {self.batch}")
        if len(set(self.mirror_axes)) < len(self.mirror_axes) or not all(
            0 <= axis < axes for axis in self.mirror_axes
        ):
            raise ValueError(
                f"mirror_axes: expected distinct numbers from 0 to {axes - 1}, got "
                f"{self.mirror_axes}"
            )
        self._check_divisor()

    def _check_divisor(self) -> None:
        axes = len(self.window)
        divisor = (self.divisor,) * axes if isinstance(self.divisor, int) else self.divisor
        if len(divisor) != axes or not all(d >= 1 for d in divisor):
            raise ValueError(f"divisor: expected {axes} numbers above 0, got {self.divisor}")
        if any(w % d for w, d in zip(self.window, divisor, strict=True)):
            fitting = tuple(math.ceil(w / d) * d for w, d in zip(self.window, divisor, strict=True))
            raise ValueError(
                f"window: the network needs sizes divisible by {divisor}, got {self.window}; try "
                f"{fitting}"
            )

    def check_image(self, image: Tensor) -> None:
        """Raise unless this is an image (C, *S) of the window's axes.

        Raises:
            ValueError: other axes, none of some, or values that are not floating point.
        """
        axes = len(self.window)
        if image.ndim != axes + 1 or 0 in image.shape or not image.is_floating_point():
            raise ValueError(
                f"image: expected floating point (C, *S) with {axes} axes of S for the window "
                f"{self.window}, got {image.dtype} {tuple(image.shape)}"
            )


def margins(shape: Sequence[int], window: Sequence[int]) -> list[tuple[int, int]]:
    """Return what must be added before and after each axis to hold a window, halved between them.

    >>> margins((5, 9), (8, 8))
    [(1, 2), (0, 0)]
    """
    missing = [max(w - n, 0) for n, w in zip(shape, window, strict=True)]
    return [(m // 2, m - m // 2) for m in missing]
