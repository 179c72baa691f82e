"""The field is no gradient, and hardly differs from one (appendix A of the paper)."""

import itertools

import pytest
import torch

from gradsurge.experiments.curl import asymmetric_norm, field, jacobian, measure_curl
from gradsurge.losses import make_loss
from gradsurge.surgery import SurgeryRule

# Two foreground and three background voxels; the pair (2, 3) is the paper's: both background.
GAP = torch.tensor([1.0, -0.5, 0.3, -2.0, 1.5], dtype=torch.float64)
LABELS = torch.tensor([1, 1, 0, 0, 0])
EPS, SCALE = 1e-5, 0.25


def test_the_counter_example_in_numbers():
    jac = jacobian(GAP, LABELS, SurgeryRule(None, SCALE, normalise=False), torch.arange(5))
    p, y = GAP.sigmoid(), LABELS.double()
    size, twice = p.sum() + y.sum() + EPS, 2 * (p * y).sum() + EPS
    # d/dz_k of p_i (2I + eps) / (P + Y + eps)^2 for y_i = y_k = 0, then with i and k swapped
    expected_ik = SCALE * p[2] * (-2 * twice / size**3) * p[3] * (1 - p[3])
    expected_ki = SCALE * p[3] * (-2 * twice / size**3) * p[2] * (1 - p[2])
    assert jac[2, 3].item() == pytest.approx(expected_ik.item(), rel=1e-6)
    assert jac[3, 2].item() == pytest.approx(expected_ki.item(), rel=1e-6)
    assert abs(jac[2, 3] - jac[3, 2]) > 0.3 * abs(jac[2, 3])


def test_equal_probabilities_are_the_only_symmetric_pairs_of_background():
    gap = GAP.clone()
    gap[3] = gap[2]
    jac = jacobian(gap, LABELS, SurgeryRule(None, SCALE, normalise=False), torch.arange(5))
    assert jac[2, 3].item() == pytest.approx(jac[3, 2].item(), rel=1e-6)


def test_the_plain_gradient_is_symmetric():
    # The same finite differences find no asymmetry where there is none.
    jac = jacobian(GAP, LABELS, None, torch.arange(5))
    assert torch.equal(field(GAP, LABELS, None), plain_gradient(make_loss("dice")))

    def dice(gap):
        p, y = gap.sigmoid(), LABELS.double()
        return 1 - (2 * (p * y).sum() + EPS) / (p.sum() + y.sum() + EPS)

    torch.testing.assert_close(jac, jac.T, rtol=1e-6, atol=1e-10)
    hessian = torch.autograd.functional.hessian(dice, GAP)
    torch.testing.assert_close(jac, hessian, rtol=1e-6, atol=1e-10)


def plain_gradient(loss):
    logits = torch.stack((torch.zeros_like(GAP), GAP)).unsqueeze(0).requires_grad_()
    loss(logits, LABELS.unsqueeze(0)).backward()
    return logits.grad[0, 1]


def test_the_norm_of_the_asymmetric_part_equals_that_of_the_whole_jacobian():
    gap = torch.randn(60, generator=torch.Generator().manual_seed(1), dtype=torch.float64) * 2
    labels = (torch.arange(60) < 7).long()
    rule = SurgeryRule(20.0, SCALE, normalise=False)
    jac = jacobian(gap, labels, rule, torch.arange(60))
    expected = torch.linalg.matrix_norm((jac - jac.T) / 2, 2).item()
    assert asymmetric_norm(gap, labels, rule) == pytest.approx(expected, rel=1e-3)


def test_the_asymmetry_fades_entry_by_entry_but_not_as_a_whole():
    curls = [measure_curl(10**n) for n in range(2, 7)]
    by_entry = [c.entry / c.diagonal for c in curls]
    by_norm = [c.norm / c.diagonal for c in curls]
    print(by_entry, by_norm)
    for before, after in itertools.pairwise(by_entry):
        assert after < before / 5  # about tenfold for ten times the voxels
    assert by_entry[-1] < 1e-4
    # Against the paper's "negligible": summed over all pairs it keeps pace with the diagonal.
    assert 0.5 < by_norm[-1] / by_norm[-2] < 2.0
