"""How far the field is from being a gradient: the asymmetry of its Jacobian.

A gradient's Jacobian is a Hessian, symmetric. The field's is not (appendix A of the paper), but
what is asymmetric about it reaches a voxel only through the global sums: entry by entry it fades
like 1/V beside the diagonal. All entries together do not: they form a matrix of rank 4 whose norm
shrinks exactly as the diagonal does. ``python -m gradsurge.experiments.curl`` prints both.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from gradsurge.losses import Dice
from gradsurge.surgery import SurgeryRule


class Curl(NamedTuple):
    """Size of the asymmetric part (J - J^T) / 2 beside the diagonal of J.

    ``entry`` is the largest asymmetry J_ik - J_ki of a sample of pairs, ``norm`` the spectral norm
    of the whole asymmetric part, ``diagonal`` the median of the sample's J_ii, all absolute.
    """

    voxels: int
    entry: float
    norm: float
    diagonal: float


def field(gap: Tensor, labels: Tensor, rule: SurgeryRule | None) -> Tensor:
    """Return the Dice field on the foreground logit of V voxels; the plain gradient for None."""
    logits = torch.stack((torch.zeros_like(gap), gap)).unsqueeze(0).requires_grad_()
    Dice(surgery=rule)(logits, labels.unsqueeze(0)).backward()
    assert logits.grad is not None  # backward has just run
    return logits.grad[0, 1]


def jacobian(gap: Tensor, labels: Tensor, rule: SurgeryRule | None, at: Tensor) -> Tensor:
    """Return dF_i / dz_k for the voxels ``at``, by central differences."""
    columns, step = [], 1e-4
    for k in at.tolist():
        up, down = gap.clone(), gap.clone()
        up[k] += step
        down[k] -= step
        change = field(up, labels, rule)[at] - field(down, labels, rule)[at]
        columns.append(change / (2 * step))
    return torch.stack(columns, dim=1)


def asymmetric_norm(gap: Tensor, labels: Tensor, rule: SurgeryRule) -> float:
    """Return the spectral norm of (J - J^T) / 2 over all pairs of voxels.

    For i != k, J_ik = w_i H(y_i, y_k) p_k (1-p_k), with the operated factor w and the second
    derivative H of the Dice loss, which depends on the two labels alone. So the asymmetric part is
    B K B^T with two columns w and two columns p(1-p), one for each label.
    """
    p, y = gap.sigmoid(), labels.to(gap.dtype)
    size, twice = p.sum() + y.sum(), 2 * (p * y).sum()
    hessian = (gap.new_tensor([[0.0, 2.0], [2.0, 4.0]]) * size - 2 * twice) / size**3
    slope = p * (1 - p)
    at_zero, at_one = slope * (1 - y), slope * y
    weight = field(gap, labels, rule).abs() / torch.where(y > 0, 2 * size - twice, twice) * size**2
    columns = torch.stack((weight * (1 - y), weight * y, at_zero, at_one), dim=1)
    zero = torch.zeros_like(hessian)
    kernel = torch.cat((torch.cat((zero, hessian), 1), torch.cat((-hessian, zero), 1)))
    triangle = torch.linalg.qr(columns).R
    return float(torch.linalg.matrix_norm(triangle @ kernel @ triangle.T / 2, 2))


def measure_curl(voxels: int, decline: float | None = 20.0, seed: int = 0, pairs: int = 24) -> Curl:
    """Measure on V random voxels, 5 % of them foreground, half of the sample in each class."""
    generator = torch.Generator().manual_seed(seed)
    ones = max(2, voxels // 20)
    labels = (torch.arange(voxels) < ones).long()
    gap = torch.randn(voxels, generator=generator, dtype=torch.float64) * 2
    of_each = min(pairs // 2, ones)
    at = torch.cat((torch.arange(of_each), torch.arange(ones, ones + of_each)))
    rule = SurgeryRule(decline, 0.25, normalise=False)
    jac = jacobian(gap, labels, rule, at)
    entry = (jac - jac.T).abs().max().item()
    norm = asymmetric_norm(gap, labels, rule)
    return Curl(voxels, entry, norm, jac.diagonal().abs().median().item())


def main() -> None:
    """Print the table for 10^2 to 10^6 voxels."""
    from rich.console import Console
    from rich.table import Table

    table = Table("voxels", "largest pair", "/ diagonal", "all pairs (norm)", "/ diagonal")
    for exponent in range(2, 7):
        curl = measure_curl(10**exponent)
        by_entry, by_norm = curl.entry / curl.diagonal, curl.norm / curl.diagonal
        numbers = (f"{v:.1e}" for v in (curl.entry, by_entry, curl.norm))
        table.add_row(f"{curl.voxels:,}", *numbers, f"{by_norm:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
