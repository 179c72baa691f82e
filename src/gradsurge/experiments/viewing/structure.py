"""What probabilities are of: a class, a region, or anything but background."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

ANY = "any structure"
_SUM_TOLERANCE = 0.02


@dataclass(frozen=True)
class Structure:
    """A structure and where it is found in maps, labels and masks.

    Attributes:
        name: of the class or region.
        channel: of its probabilities; None for all but the background, which is channel 0.
        label_numbers: class numbers in labels; None for all but 0.
        mask_numbers: class numbers in masks; None for all but 0.
    """

    name: str
    channel: int | None
    label_numbers: tuple[int, ...] | None
    mask_numbers: tuple[int, ...] | None

    def probability(self, maps: NDArray[Any]) -> NDArray[Any]:
        """Return its probabilities (*S) of maps (C, *S)."""
        if self.channel is not None:
            return np.asarray(maps[self.channel])
        # Channels that sum to 1 up to rounding may leave less than nothing.
        rest: NDArray[Any] = np.maximum(1.0 - maps[0], 0.0)
        return rest


def is_one_of(array: NDArray[Any], numbers: Sequence[int] | None) -> NDArray[np.bool_]:
    """Return where class numbers are among some; None for all but 0.

    >>> is_one_of(np.array([0, 1, 2, 7]), (2, 7)).tolist()
    [False, False, True, True]
    """
    found: NDArray[np.bool_] = array != 0 if numbers is None else np.isin(array, list(numbers))
    return found


def exclusive(names: Sequence[str]) -> tuple[Structure, ...]:
    """Return the structures of classes that exclude each other, channel 0 being the background.

    Args:
        names: of classes 1, 2, ...

    >>> [structure.name for structure in exclusive(["anterior", "posterior"])]
    ['any structure', 'anterior', 'posterior']
    """
    numbers = tuple(range(1, len(names) + 1))
    each = tuple(Structure(name, n, (n,), (n,)) for name, n in zip(names, numbers, strict=True))
    return each if len(names) < 2 else (Structure(ANY, None, numbers, numbers), *each)


def structures_of_map(maps: NDArray[Any]) -> tuple[Structure, ...]:
    """Return the structures of maps (C, *S) of which nobody told anything.

    One channel is the foreground. Several that sum to 1 are classes, the background first; others
    are regions of their own.
    """
    count = len(maps)
    if count == 1:
        return (Structure("foreground", 0, None, None),)
    if float(np.abs(maps.sum(axis=0, dtype=np.float32) - 1.0).max()) <= _SUM_TOLERANCE:
        return exclusive([f"class {n}" for n in range(1, count)])
    return tuple(Structure(f"channel {n}", n, (n + 1,), (n + 1,)) for n in range(count))
