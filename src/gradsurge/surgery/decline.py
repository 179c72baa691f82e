"""The decline factor (1 - e^n)(1 - (1-e)^n), accurate where either e or 1-e is tiny."""

import math
from collections.abc import Callable

import torch
from torch import Tensor


def decline_factor(t: Tensor, exponent: float) -> Tensor:
    """Return (1 - e^n)(1 - (1-e)^n) from t = e(1-e).

    The factor is symmetric in e and 1-e, so it is a function of their product, which the caller
    knows to full relative precision. Nothing here subtracts nearly equal numbers, and no voxel is
    raised to a power where a few products do.

    >>> decline_factor(torch.tensor([0.25, 1e-30], dtype=torch.float64), 20.0).tolist()
    [0.999998092652..., 2e-29]
    """
    return half_decline(t, exponent, lambda: None).mul_(2.0)


def half_decline(t: Tensor, exponent: float, take: Callable[[], Tensor | None]) -> Tensor:
    """Return half the factor: what its recurrence yields, for callers that scale anyway.

    ``take`` hands out buffers for intermediates, see `gradsurge.surgery.memory`.
    """
    odd, doublings = _odd_and_doublings(exponent)
    if odd in (1, 3, 5):
        return _by_doubling(t, odd, doublings, take)
    return _by_logarithm(t, exponent)


def _odd_and_doublings(exponent: float) -> tuple[int, int]:
    """Split a whole number into odd * 2^doublings; (0, 0) for any other."""
    if exponent != math.floor(exponent):
        return 0, 0
    odd, doublings = int(exponent), 0
    while odd % 2 == 0:
        odd, doublings = odd // 2, doublings + 1
    return odd, doublings


def _by_doubling(t: Tensor, odd: int, doublings: int, take: Callable[[], Tensor | None]) -> Tensor:
    """Return half the factor for n = odd * 2^doublings, by a few products.

    With V_k = e^k + (1-e)^k the factor is 1 - V_n + t^n, and H_k = (1 - V_k) / 2 obeys
    H_2k = t^k + 2 H_k (1 - H_k): sums of positive terms, so every digit stays right. In place,
    since every fresh tensor costs cache.
    """
    half, power = _odd_start(t, odd, take)
    scale = odd / 2  # H_k is scale times half; applied with the next step, to spare one
    compiling = torch.compiler.is_compiling()
    tail_counts = 0.25 ** (odd * 2**doublings) > torch.finfo(t.dtype).eps / 4
    for left in reversed(range(doublings)):
        half.addcmul_(half, half, value=-scale)
        half = torch.add(power, half, alpha=2.0 * scale, out=None if compiling else half)
        scale = 1.0
        if left or tail_counts:
            power.mul_(power)
    half = half if scale == 1.0 else half.mul_(scale)
    return half.add_(power, alpha=0.5) if tail_counts else half  # else t^n is lost in rounding


def _odd_start(t: Tensor, odd: int, take: Callable[[], Tensor | None]) -> tuple[Tensor, Tensor]:
    """Return H_k / (k / 2) and t^k for k = 1, 3, 5."""
    if odd == 1:
        return torch.zeros_like(t), t.clone()
    square = torch.mul(t, t, out=take())
    if odd == 3:
        return t.clone(), square.mul_(t)
    return torch.sub(t, square, out=take()), square.mul_(square).mul_(t)


def _by_logarithm(t: Tensor, exponent: float) -> Tensor:
    """Return half the factor for any real n > 0: both its factors as -expm1(n log x)."""
    small = (t * 2.0).div_(torch.rsub(t * 4.0, 1.0).clamp_min_(0.0).sqrt_().add_(1.0))
    half = torch.log1p(-small).mul_(exponent).expm1_().mul_(-0.5)
    if 0.5**exponent > torch.finfo(t.dtype).eps / 4:  # else 1 - small^n rounds to 1
        half.mul_(small.log_().mul_(exponent).expm1_().neg_())
    return half
