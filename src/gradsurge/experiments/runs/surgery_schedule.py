"""When surgery sets in: from the first step, at a moment, or rising between two."""

import math
from dataclasses import asdict, dataclass
from typing import Any, Self


@dataclass(frozen=True)
class SurgerySchedule:
    """The blend over a training: 0 (plain gradient) until ``start``, 1 (surgery) from ``full`` on.

    Between them it rises linearly. Both are fractions of the training; equal ones are a switch.

    >>> switch = SurgerySchedule(0.6, 0.6)
    >>> [switch.blend(step, steps=10) for step in (0, 5, 6, 9)]
    [0.0, 0.0, 1.0, 1.0]
    >>> SurgerySchedule(0.2, 0.6).blend(4, steps=10)
    0.5
    """

    start: float = 0.0
    full: float = 0.0

    def __post_init__(self) -> None:
        ends: dict[str, object] = {"start": self.start, "full": self.full}
        for name, value in ends.items():
            number = isinstance(value, int | float) and not isinstance(value, bool)
            if not number or not 0 <= value < 1:  # type: ignore[operator]  # NaN is refused too
                raise ValueError(
                    f"surgery {name}: expected a fraction of the training from 0 to below 1, "
                    f"got {value!r}"
                )
        if self.full < self.start:
            raise ValueError(
                f"surgery ramp: expected it to end at or after its start {self.start:g}, "
                f"got {self.full:g}"
            )

    @property
    def from_the_start(self) -> bool:
        """Whether the whole surgery is at work from the first step on."""
        return self.full == 0

    def blend(self, step: int, steps: int) -> float:
        """Return the share of surgery at a step (from 0) of a training of so many steps."""
        begin, end = (_steps_of(share, steps) for share in (self.start, self.full))
        if step >= end:
            return 1.0
        return 0.0 if step <= begin else (step - begin) / (end - begin)

    def first_full_step(self, steps: int) -> int:
        """Return the first step (from 0) of the whole surgery; ``steps`` or more if none is.

        >>> (
        ...     SurgerySchedule(0.5, 0.5).first_full_step(9),
        ...     SurgerySchedule(0.9, 0.9).first_full_step(5),
        ... )
        (5, 5)
        """
        return math.ceil(_steps_of(self.full, steps))

    def to_json(self) -> dict[str, Any]:
        """Return plain numbers."""
        return asdict(self)

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Self:
        """Return what `to_json` was made of."""
        return cls(**stored)


def _steps_of(share: float, steps: int) -> float:
    # Whole steps are compared: 0.6 · 10 is 6, whatever floats make of 6 / 10.
    return round(share * steps, 9)
