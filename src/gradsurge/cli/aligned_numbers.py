"""Numbers of a column with equally many decimals."""

import math
from collections.abc import Sequence

_DIGITS = 3  # significant ones of the smallest number
_SMALLEST = 1e-4  # below it decimals are too many to read


def aligned(values: Sequence[float | None]) -> list[str]:
    """Write a column of numbers alike; a dash for what is none.

    >>> aligned([0.94, 0.953, None, 0.0712]), aligned([12.0, 140.25]), aligned([0.5, 2e-7])
    (['0.9400', '0.9530', '–', '0.0712'], ['12.0', '140.2'], ['5.00e-01', '2.00e-07'])
    """
    sizes = [abs(v) for v in values if v is not None and math.isfinite(v) and v != 0]
    smallest = min(sizes, default=1.0)
    # Rounded first: 0.9996 has the decimals of 1.00.
    power = math.floor(math.log10(float(f"{smallest:.{_DIGITS - 1}e}")))
    style = f".{max(_DIGITS - 1 - power, 0)}f" if smallest >= _SMALLEST else f".{_DIGITS - 1}e"
    return ["–" if v is None or not math.isfinite(v) else f"{v:{style}}" for v in values]
