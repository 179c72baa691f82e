"""A number with the largest error it can have."""


class Bounded(float):
    """A float that knows its bound: the true value lies within ``error`` of it.

    >>> x = Bounded(0.98, 1e-6)
    >>> x + 0.02, x.error
    (1.0, 1e-06)
    """

    error: float

    def __new__(cls, value: float, error: float) -> "Bounded":
        self = super().__new__(cls, value)
        self.error = float(error)
        return self

    def __getnewargs__(self) -> tuple[float, float]:  # type: ignore[override]  # for pickle
        return float(self), self.error

    def __repr__(self) -> str:
        return f"{float(self)!r} (± {self.error:.1g})"
