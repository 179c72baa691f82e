"""Rates of K problems with L labels each, as a surgery loss measures them: what is taken for such.

Softmax has one problem of C labels, sigmoid C problems of 2.
"""

import math
from numbers import Real

import torch
from scipy.sparse.csgraph import connected_components
from torch import Tensor


def as_problems(name: str, rates: Tensor, axes: int) -> Tensor:
    """Return ``rates`` with their ``axes``, the first, that of a single problem, added if need be.

    Raises:
        TypeError: unless it is a tensor of numbers.
    """
    check_tensor(name, rates)
    if rates.is_complex() or rates.dtype == torch.bool:
        raise TypeError(f"{name}: expected rates, numbers >= 0, got {rates.dtype}")
    return rates.unsqueeze(0) if rates.ndim == axes - 1 else rates


def check_tensor(name: str, values: Tensor) -> None:
    """Raise unless ``values`` is a tensor."""
    if not isinstance(values, Tensor):
        raise TypeError(f"{name}: expected a torch.Tensor, got {type(values).__name__}")


def check_rates(region: Tensor, cross_entropy: Tensor | None, decline: float | None) -> None:
    """Raise unless these rates, (K, L, L) and (K, L), have one rest point in every problem."""
    rows = tuple(region.shape[:2])
    if cross_entropy is not None and cross_entropy.shape != rows:
        raise ValueError(
            f"cross_entropy: beside region rates {tuple(region.shape)} expected shape {rows}, got "
            f"{tuple(cross_entropy.shape)}"
        )
    for name, rates in (("region", region), ("cross_entropy", cross_entropy)):
        if rates is not None and not bool((rates.isfinite() & (rates >= 0)).all()):
            raise ValueError(f"{name}: expected finite rates >= 0, got {rates.tolist()}")
    _check_decline(decline)
    total = region if cross_entropy is None else region + cross_entropy.unsqueeze(-1)
    # Of two labels one may be out of the question; of more, one of them would leave 0 by 0.
    connection = "strong" if rows[1] > 2 else "weak"
    for k, problem in enumerate(total.detach().cpu()):
        if connected_components((problem > 0).numpy(), connection=connection)[0] > 1:
            raise ValueError(
                f"region: expected positive rates between all labels, directly or by way of "
                f"others, so that they are in balance; those of problem {k} are {problem.tolist()}"
            )


def _check_decline(decline: float | None) -> None:
    expected = "decline: expected a number > 0, or None for no decline"
    if decline is None:
        return
    if not isinstance(decline, Real) or isinstance(decline, bool):
        raise TypeError(f"{expected}, got {decline!r}")
    if not (decline > 0 and math.isfinite(decline)):
        raise ValueError(f"{expected}, got {decline!r}")
