"""The decline factor (1 - e^n)(1 - (1-e)^n), accurate where either e or 1-e is tiny."""

import math

import torch
from torch import Tensor

# (V_k(t) - 1) / -t for odd k, with V_k = e^k + (1-e)^k and t = e(1-e): coefficients in rising t.
_ODD_STARTS: dict[int, tuple[float, ...]] = {
    1: (0.0,),
    3: (3.0,),
    5: (5.0, -5.0),
    7: (7.0, -14.0, 7.0),
}


def decline_factor(small: Tensor, exponent: float) -> Tensor:
    """Return (1 - e^n)(1 - (1-e)^n), where ``small`` is the smaller one of e and 1 - e.

    The factor is symmetric in e and 1 - e, so the smaller one, which the caller knows to full
    relative precision, is enough. Nothing here subtracts nearly equal numbers, and no voxel is
    raised to a power where a product of polynomials does.

    >>> decline_factor(torch.tensor([0.5, 1e-30], dtype=torch.float64), 20.0).tolist()
    [0.999998092652..., 2e-29]
    """
    odd, doublings = _odd_and_doublings(exponent)
    if odd in _ODD_STARTS:
        return _whole(small, odd, doublings)
    return _real(small, exponent)


def _odd_and_doublings(exponent: float) -> tuple[int, int]:
    if exponent != math.floor(exponent):
        return 0, 0
    odd, doublings = int(exponent), 0
    while odd % 2 == 0:
        odd, doublings = odd // 2, doublings + 1
    return odd, doublings


def _whole(small: Tensor, odd: int, doublings: int) -> Tensor:
    """Polynomial form for n = odd * 2^doublings.

    With t = e(1-e) and V_k = e^k + (1-e)^k the factor is 1 - V_n + t^n. W_k = (1 - V_k) / t obeys
    W_2k = W_k (2 - t W_k) + 2 t^(k-1), a sum of positive terms.
    """
    t = small - small * small
    coefficients = _ODD_STARTS[odd]
    w = torch.full_like(t, coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        w = w.mul_(t).add_(coefficient)
    power = torch.ones_like(t)  # t^(k-1)
    for _ in range(odd - 1):
        power = power.mul_(t)
    n = odd * 2**doublings
    keep_last = 0.25**n > torch.finfo(t.dtype).eps / 4  # else t^n is lost in rounding anyway
    for step in range(doublings):
        w = torch.rsub(t * w, 2.0).mul_(w).add_(power, alpha=2.0)
        if keep_last or step + 1 < doublings:
            power = (power * power).mul_(t)
    if keep_last:
        w = w.add_(power)
    return w.mul_(t)


def _real(small: Tensor, exponent: float) -> Tensor:
    """Form for any real n > 0: both factors as -expm1(n log x)."""
    factor = torch.log1p(-small).mul_(exponent).expm1_().neg_()
    if 0.5**exponent > torch.finfo(small.dtype).eps / 4:  # else 1 - small^n rounds to 1
        factor = factor.mul_(torch.log(small).mul_(exponent).expm1_().neg_())
    return factor
