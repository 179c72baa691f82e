"""Numbers as a reader sees them; what is not a finite number is a dash."""

import math

DASH = "–"
_MINUS = "−"
_SPACE = "\N{NARROW NO-BREAK SPACE}"
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def finite(value: float | None) -> bool:
    """Return whether there is a number to show."""
    return value is not None and math.isfinite(value)


def score(value: float | None, digits: int = 3) -> str:
    """Write a score with significant digits, so that an error of 0.00012 is not 0.000.

    >>> score(0.91234), score(0.000123), score(-0.0000123), score(234.5), score(math.nan)
    ('0.912', '0.000123', '−1.23 × 10⁻⁵', '234', '–')
    >>> score(0.9996), score(0.999999), score(1.0)
    ('0.9996', '> 0.9999', '1.00')
    """
    if value is None or not math.isfinite(value):
        return DASH
    if value == 0:
        return "0"
    if 0.995 <= value < 1:  # an AUROC of 0.9996 is not 1
        return f"{value:.4f}" if value < 0.99995 else "> 0.9999"
    mantissa, exponent = f"{abs(value):.{digits - 1}e}".split("e")
    power = int(exponent)
    if power >= digits:
        text = f"{abs(value):,.0f}".replace(",", _SPACE)
    elif power >= -4:
        text = f"{float(f'{mantissa}e{power}'):.{digits - 1 - power}f}"
    else:
        text = f"{mantissa} × 10{str(power).translate(_RAISED)}"
    return f"{_MINUS}{text}" if value < 0 else text


def bound(value: float) -> str:
    """Write a bound with two digits, rounded up, so that it still is one.

    >>> bound(0.000491), bound(0.0), bound(2.31e-7)
    ('0.00050', '0', '2.4 × 10⁻⁷')
    """
    if value <= 0 or not math.isfinite(value):
        return score(value)
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    return score(math.ceil(value / step) * step, digits=2)


def count(value: float | None) -> str:
    """Write a whole number in groups of three digits.

    >>> count(12345678).split(), count(None)
    (['12', '345', '678'], '–')
    """
    if value is None or not math.isfinite(value):
        return DASH
    return f"{value:,.0f}".replace(",", _SPACE).replace("-", _MINUS)


def percent(value: float | None) -> str:
    """Write a share in per cent.

    >>> percent(0.956), percent(None)
    ('96 %', '–')
    """
    return f"{100 * value:.0f} %" if value is not None and math.isfinite(value) else DASH


def p_value(value: float | None) -> str:
    """Write a p-value; below a thousandth its digits mean nothing.

    >>> p_value(0.03125), p_value(0.00002), p_value(None)
    ('0.031', '< 0.001', '–')
    """
    if value is None or not math.isfinite(value):
        return DASH
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def interval(low: float | None, high: float | None) -> str:
    """Write the two ends; nothing if there are none.

    >>> interval(0.1, 0.25), interval(None, None)
    ('0.100 to 0.250', '')
    """
    return f"{score(low)} to {score(high)}" if finite(low) and finite(high) else ""
