"""The closed-form correction: from where a surgery loss came to rest to the true posterior."""

import torch
from torch import Tensor

from gradsurge.calibration.rates import as_problems, check_rates, check_tensor

_TINY = 1e-37  # a probability that float32 rounded to 0 is some number this small


def posterior_from_equilibrium(
    probabilities: Tensor,
    region: Tensor,
    cross_entropy: Tensor | None = None,
    decline: float | None = None,
) -> Tensor:
    r"""Return the posterior that makes ``probabilities`` an equilibrium of a surgery field.

    Of voxels that a network cannot tell apart a share r_t is of class t. These pull the common p
    away from class c at the rate r_t p_c A_tc, with A_tc = ce_t + D region[t, c]. The field
    vanishes where r is the stationary distribution of these rates: for two classes odds(r) =
    odds(p) A_01 / A_10, for more a linear system of C equations a voxel.

    Args:
        probabilities: p, (N, C, *S): exclusive classes, or channels that may overlap.
        region: mean rates of the region loss, as a surgery loss measures them: (1, C, C) for
            exclusive classes, (C, 2, 2) for channels; row t for voxels of class t, column c the
            class they pull away from. (C, C) means (1, C, C).
        cross_entropy: mean rates of a cross-entropy term, (1, C) or (C, 2); (C,) means (1, C).
        decline: the exponent n of D = (1 - m^n)(1 - (1-m)^n), m the largest p of a voxel, which
            only matters beside cross-entropy; None for D = 1.

    With a loss that has trained: ``posterior_from_equilibrium(p, *loss.equilibrium()[:3])``.

    >>> p = torch.tensor([[[0.8], [0.2]]])
    >>> rates = torch.tensor([[0.0, 1.0], [3.0, 0.0]])  # foreground pulls three times as hard
    >>> [round(v, 4) for v in posterior_from_equilibrium(p, rates).flatten().tolist()]
    [0.9231, 0.0769]
    """
    _check_probabilities(probabilities)
    exclusive = _exclusive(probabilities, region)
    region = as_problems("region", region, axes=3)
    if cross_entropy is not None:
        cross_entropy = as_problems("cross_entropy", cross_entropy, axes=2)
    check_rates(region, cross_entropy, decline)
    dtype = torch.float32 if probabilities.device.type == "mps" else torch.float64
    p = probabilities.movedim(1, -1).to(dtype)
    if not exclusive:
        p = torch.stack((1.0 - p, p), dim=-1)  # (..., C, 2): a problem of two classes a channel
    p = p.clamp_min(_TINY)
    pull = region.to(p)
    scale = pull.amax()
    # Without cross-entropy D is common to all rates and cancels, also where it is 0: at p = 0, 1.
    if cross_entropy is not None and bool(cross_entropy.any()):
        ce = cross_entropy.to(p)
        scale = torch.maximum(scale, ce.amax())
        strength = 1.0 if decline is None else _decline(p, decline)[..., None, None]
        pull = strength * (pull[0] if exclusive else pull) + (ce[0] if exclusive else ce)[..., None]
    elif exclusive:
        pull = pull[0]
    r = _stationary(pull / scale * p.unsqueeze(-2))  # rates (..., t, c): from class t to class c
    return (r if exclusive else r[..., 1]).movedim(-1, 1).to(probabilities.dtype)


def _check_probabilities(probabilities: Tensor) -> None:
    check_tensor("probabilities", probabilities)
    if not probabilities.is_floating_point():
        raise TypeError(f"probabilities: expected a floating dtype, got {probabilities.dtype}")
    if probabilities.ndim < 2:
        raise ValueError(
            f"probabilities: expected (N, C, *S), got shape {tuple(probabilities.shape)}"
        )
    if probabilities.numel():
        low, high = (float(v) for v in torch.aminmax(probabilities.detach()))
        if not (low >= 0.0 and high <= 1.0):
            raise ValueError(
                f"probabilities: expected numbers in [0, 1], got {low:.9g} .. {high:.9g}"
            )


def _exclusive(probabilities: Tensor, region: Tensor) -> bool:
    """Return whether the classes exclude each other; raise unless the shapes fit."""
    check_tensor("region", region)
    c, shape = probabilities.shape[1], tuple(region.shape)
    if shape in ((c, c), (1, c, c)) and c > 1:
        return True
    if shape == (c, 2, 2):
        return False
    raise ValueError(
        f"region: for probabilities {tuple(probabilities.shape)} expected rates (1, {c}, {c}) of "
        f"exclusive classes or ({c}, 2, 2) of channels, got {shape}"
    )


def _decline(p: Tensor, exponent: float) -> Tensor:
    m = p.amax(dim=-1)
    return torch.expm1(exponent * torch.log(m)) * torch.expm1(exponent * torch.log1p(-m))


def _stationary(rates: Tensor) -> Tensor:
    """Return the distribution r with r_t rates[t, c] in balance, (..., C) from (..., C, C).

    Two classes: r is proportional to the rates towards them.

    Gaussian elimination of states without subtractions (Grassmann, Taksar, Heyman), so that tiny
    probabilities keep their relative precision, where a general solver would drown them.
    """
    last = rates.shape[-1] - 1
    if last == 1:
        r = torch.stack((rates[..., 1, 0], rates[..., 0, 1]), dim=-1)
        return r / r.sum(dim=-1, keepdim=True)
    a = rates.clone()
    for k in range(last, 0, -1):
        out = a[..., k, :k].sum(dim=-1, keepdim=True)
        a[..., :k, k] /= out
        a[..., :k, :k] += a[..., :k, k : k + 1] * a[..., k : k + 1, :k]
    r = torch.ones_like(a[..., 0])
    for k in range(1, last + 1):
        r[..., k] = (r[..., :k].clone() * a[..., :k, k]).sum(dim=-1)
    return r / r.sum(dim=-1, keepdim=True)
