"""Numbers that count something: a float is refused here, not by NumPy ten calls further down."""

from numbers import Integral


def check_whole_number(name: str, value: int) -> None:
    """Raise unless ``value`` is a whole number; NumPy's are, a bool and 15.0 are none."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name}: expected a whole number, got {value!r}")
