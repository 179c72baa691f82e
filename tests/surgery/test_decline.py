"""The decline factor against 60 digits of mpmath."""

import mpmath
import pytest
import torch

from gradsurge.surgery.decline import decline_factor

EXPONENTS = [0.3, 1, 2, 3, 5, 6, 7, 9.5, 12, 20, 24, 40, 60, 100, 1000, 1e6]
# e from tiny to nearly one half, and one half itself; 1 - e is covered by symmetry.
ERRORS = ["1e-30", "1e-20", "1e-10", "1e-7", "1e-6", "1e-5", "3e-4", "0.01", "0.03", "0.05"]
ERRORS += ["0.1", "0.17", "0.25", "0.33", "0.45", "0.49", "0.4999", "0.49999999", "0.5"]


def exact(t: torch.Tensor, n: float) -> list[mpmath.mpf]:
    """(1 - e^n)(1 - (1-e)^n) at the stored values of t = e(1-e)."""
    with mpmath.workdps(60):
        values = []
        for product in t.tolist():
            e = (1 - mpmath.sqrt(1 - 4 * mpmath.mpf(product))) / 2
            values.append((1 - e**n) * (1 - (1 - e) ** n))
        return values


@pytest.mark.parametrize("n", EXPONENTS)
@pytest.mark.parametrize(("dtype", "room"), [(torch.float32, 5e-6), (torch.float64, 1e-13)])
def test_equals_mpmath(n, dtype, room):
    with mpmath.workdps(60):
        products = [float(mpmath.mpf(e) * (1 - mpmath.mpf(e))) for e in ERRORS]
    t = torch.tensor(products, dtype=dtype)
    found = decline_factor(t.clone(), n)
    assert found.dtype == dtype
    for value, expected in zip(found.tolist(), exact(t, n), strict=True):
        assert abs(value / expected - 1) < room


@pytest.mark.parametrize("n", [0.3, 1, 6, 7, 20, 1e6])
def test_leaves_its_argument_alone_and_vanishes_at_zero(n):
    t = torch.tensor([0.0, 0.1, 0.25], dtype=torch.float64)
    before = t.clone()
    assert decline_factor(t, n)[0] == 0
    assert torch.equal(t, before)


def test_grows_with_the_exponent_towards_one():
    t = torch.linspace(1e-4, 0.25, 50, dtype=torch.float64)
    factors = torch.stack([decline_factor(t, n) for n in sorted(EXPONENTS)])
    assert bool((factors.diff(dim=0) >= -1e-15).all())
    assert bool((factors <= 1).all())
    assert factors[-1].min() > 1 - 1e-15
