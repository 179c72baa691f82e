"""The closed-form correction: from where a surgery loss came to rest to the true posterior."""

import torch
from torch import Tensor

# Beyond this logit gap a probability is 0 or 1 in float32, and so is its posterior.
_TINY = 1e-37


def posterior_from_equilibrium(
    probabilities: Tensor,
    region: Tensor,
    cross_entropy: Tensor | None = None,
    decline: float | None = None,
) -> Tensor:
    r"""Return the posterior that makes ``probabilities`` an equilibrium of a surgery field.

    Voxels that a network cannot tell apart, a share r_t of them of class t, pull their common p
    towards class c at the rate r_t p_c A_tc, with A_tc = ce_t + D region[t, c] on voxels of
    class t. The field vanishes where r is the stationary distribution of these rates: for two
    classes odds(r) = odds(p) A_01 / A_10, for more a linear system of C equations a voxel.

    Args:
        probabilities: p, (N, C, *S), exclusive classes. Overlapping channels are problems of two
            classes each: stack 1 - p and p.
        region: mean rates of the region loss, (C, C): row t for voxels of class t, column c the
            class that is pushed down. A surgery loss measures them: ``loss.equilibrium()``.
        cross_entropy: mean rates of a cross-entropy term, (C,).
        decline: the exponent n of D = (1 - m^n)(1 - (1-m)^n), m the largest p of a voxel, which
            only matters beside cross-entropy; None for D = 1.

    >>> p = torch.tensor([[[0.8], [0.2]]])
    >>> rates = torch.tensor([[0.0, 1.0], [3.0, 0.0]])  # foreground pulls three times as hard
    >>> [round(v, 4) for v in posterior_from_equilibrium(p, rates).flatten().tolist()]
    [0.9231, 0.0769]
    """
    classes = probabilities.shape[1]
    if region.shape != (classes, classes):
        raise ValueError(
            f"region: for probabilities {tuple(probabilities.shape)} expected "
            f"{(classes, classes)} rates, got {tuple(region.shape)}"
        )
    p = probabilities.movedim(1, -1).clamp_min(_TINY)
    region = region.to(p)
    pull = region
    if cross_entropy is not None:  # without it D is common to all rates, and cancels
        strength = 1.0 if decline is None else _decline(p, decline)[..., None, None]
        pull = strength * region + cross_entropy.to(p).unsqueeze(-1)
    rates = pull * p.unsqueeze(-2)  # (..., t, c): from class t to class c
    if classes == 2:
        r = torch.stack((rates[..., 1, 0], rates[..., 0, 1]), dim=-1)
        return (r / r.sum(dim=-1, keepdim=True)).movedim(-1, 1)
    return _stationary(rates).movedim(-1, 1)


def _decline(p: Tensor, exponent: float) -> Tensor:
    m = p.amax(dim=-1)
    return torch.expm1(exponent * torch.log(m)) * torch.expm1(exponent * torch.log1p(-m))


def _stationary(rates: Tensor) -> Tensor:
    """Return the distribution r with r_t rates[t, c] in balance, (..., C) from (..., C, C).

    Gaussian elimination of states without subtractions (Grassmann, Taksar, Heyman), so that tiny
    probabilities keep their relative precision, where a general solver would drown them.
    """
    a = rates.clone()
    last = a.shape[-1] - 1
    for k in range(last, 0, -1):
        out = a[..., k, :k].sum(dim=-1, keepdim=True)
        a[..., :k, k] /= out
        a[..., :k, :k] += a[..., :k, k : k + 1] * a[..., k : k + 1, :k]
    r = torch.ones_like(a[..., 0])
    for k in range(1, last + 1):
        r[..., k] = (r[..., :k].clone() * a[..., :k, k]).sum(dim=-1)
    return r / r.sum(dim=-1, keepdim=True)
