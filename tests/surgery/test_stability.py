"""Float32 fields up to logit gaps of 80 against 60 digits of mpmath."""

import itertools

import mpmath
import pytest
import torch
from mpmath import mpf

from gradsurge import Dice, SurgeryRule, surgery_sigmoid, surgery_softmax
from tests.properties.formulas import listing_field

TINY = torch.finfo(torch.float32).tiny  # below it, floats are subnormal and lose digits
GAPS = [0.0, 0.3, 1.0, 5.0, 10.0, 16.0, 17.5, 20.0, 33.3, 50.0, 70.1, 80.0]
GAPS += [-gap for gap in GAPS[1:]]
DECLINES = [None, 0.5, 7.0, 20.0, 40.0, 1000.0]
NORMALISED = (None, 7.0, 1000.0)  # the others without normalisation


@pytest.fixture(autouse=True)
def sixty_digits():
    with mpmath.workdps(60):
        yield


def softmax(z: list[float]) -> list[mpf]:
    terms = [mpmath.exp(mpf(v)) for v in z]
    return [t / mpmath.fsum(terms) for t in terms]


def declined(e: mpf, n: float | None) -> mpf:
    return mpf(1) if n is None else (1 - e ** mpf(n)) * (1 - (1 - e) ** mpf(n))


def factor_of(p: list[mpf], y: int, normalise: bool) -> mpf:
    """(P + Y) / (2 Y) of a class or channel to which all voxels belong, or none of them."""
    return (1 + mpmath.fsum(p) / len(p)) / 2 if normalise and y else mpf(1)


def assert_right_and_alive(found: float, exact: mpf) -> None:
    if abs(exact) >= TINY:
        assert found != 0
        assert abs(found / exact - 1) < 1e-5


def float32_field(operator, logits, target, g, **options):
    z = torch.tensor(logits, dtype=torch.float32, requires_grad=True)
    p = operator(z, torch.tensor(target), **options)
    return torch.autograd.grad(p, z, torch.tensor(g, dtype=torch.float32))[0]


@pytest.mark.parametrize("n", DECLINES)
@pytest.mark.parametrize("label", [0, 1])
def test_two_classes(n, label):
    # The gap is split in two ways over the logits, so that its own rounding is tested, too.
    pairs = [(0.0, gap) for gap in GAPS] + [(-gap / 3, gap - gap / 3) for gap in GAPS]
    logits = torch.tensor(pairs).T.unsqueeze(0)
    target = torch.full((1, len(pairs)), label)
    z = logits.clone().requires_grad_()
    g = torch.tensor([0.5, -0.75]).view(1, 2, 1).expand_as(z)
    (field,) = torch.autograd.grad(surgery_softmax(z, target, n, 0.25, n in NORMALISED), z, g)
    p = [softmax(pair) for pair in logits[0].T.tolist()]
    factor = factor_of([foreground for _, foreground in p], label, n in NORMALISED)
    for i in range(len(pairs)):
        e = p[i][1 - label]
        exact = mpf("0.25") * e * declined(e, n) * (factor * mpf("-0.75") - mpf("0.5"))
        assert_right_and_alive(field[0, 1, i].item(), exact)
        assert_right_and_alive(field[0, 0, i].item(), -exact)


@pytest.mark.parametrize("n", DECLINES)
@pytest.mark.parametrize("hard", [True, False])
def test_sigmoid(n, hard):
    labels = torch.tensor([[0.0], [1.0]])
    logits = torch.tensor(GAPS).expand(1, 2, -1)
    target = labels.expand_as(logits)
    z = logits.clone().requires_grad_()
    p = surgery_sigmoid(z, target.long() if hard else target, n, 0.25, n in NORMALISED)
    (field,) = torch.autograd.grad(p.sum(), z)
    gaps = [mpf(gap) for gap in logits[0, 0].tolist()]
    factors = [
        factor_of([1 / (1 + mpmath.exp(-d)) for d in gaps], y, n in NORMALISED) for y in (0, 1)
    ]
    for y, (i, gap) in itertools.product((0, 1), enumerate(gaps)):
        e = 1 / (1 + mpmath.exp(gap if y else -gap))
        exact = mpf("0.25") * e * declined(e, n) * factors[y]
        assert_right_and_alive(field[0, y, i].item(), exact)


@pytest.mark.parametrize("n", DECLINES)
@pytest.mark.parametrize("truth", [0, 1, 2])
def test_three_classes(n, truth):
    voxels = [(0.0, gap, gap / 2) for gap in GAPS] + [(gap, -gap / 4, -gap) for gap in GAPS[:6]]
    logits = torch.tensor(voxels).T.unsqueeze(0)
    g = [0.5, -0.75, 0.25]
    z = logits.clone().requires_grad_()
    target = torch.full((1, len(voxels)), truth)
    p = surgery_softmax(z, target, n, 0.25, n in NORMALISED)
    (field,) = torch.autograd.grad(p, z, torch.tensor(g).view(1, 3, 1).expand_as(z))
    every_p = [softmax(values) for values in logits[0].T.tolist()]
    g = [mpf(slope) for slope in g]
    g[truth] *= factor_of([exact_p[truth] for exact_p in every_p], truth, n in NORMALISED)
    for i, exact_p in enumerate(every_p):
        decline = declined(1 - max(exact_p), n)
        for c in (c for c in range(3) if c != truth):
            pull = mpf("0.25") * decline * exact_p[c] * (g[c] - g[truth])
            assert_right_and_alive(field[0, c, i].item(), pull)


@pytest.mark.parametrize("n", DECLINES)
def test_fused_dice(n):
    # Every gap once as background and once as foreground: half of them confidently wrong.
    logits = torch.tensor([[0.0] * 2 * len(GAPS), GAPS * 2]).unsqueeze(0)
    target = torch.tensor([[0] * len(GAPS) + [1] * len(GAPS)])
    z = logits.clone().requires_grad_()
    rule = SurgeryRule(n, 0.25, normalise=n in NORMALISED)
    Dice(surgery=rule)(z, target).backward()
    p = [softmax(pair)[1] for pair in logits[0].T.tolist()]
    twice = 2 * mpmath.fsum(p[len(GAPS) :]) + mpf("1e-5")
    size = mpmath.fsum(p) + len(GAPS) + mpf("1e-5")
    factor = (mpmath.fsum(p) / len(GAPS) + 1) / 2 if rule.normalise else 1
    for i, (share, y) in enumerate(zip(p, target[0].tolist(), strict=True)):
        e = 1 - share if y else share
        slope = -(2 * y * size - twice) / size**2
        assert_right_and_alive(z.grad[0, 1, i].item(), factor * e * declined(e, n) * slope / 4)


@pytest.mark.parametrize("gap", [18.0, 30.0, 80.0])
def test_confidently_wrong_voxels_keep_learning_where_the_listing_stops(gap):
    logits, g = [[[0.0], [gap]]], [[[0.0], [1.0]]]
    one_hot = torch.tensor([[[1.0], [0.0]]])
    theirs = listing_field(torch.tensor(logits), one_hot, torch.tensor(g), 20.0)
    assert torch.equal(theirs, torch.zeros_like(theirs))
    ours = float32_field(surgery_softmax, logits, [[0]], g, decline=20.0, scale=0.25)
    exact = mpf("0.25") * 20 * mpmath.exp(-mpf(gap))  # to first order in exp(-gap)
    assert abs(ours[0, 1].item() / exact - 1) < 1e-5


def test_beyond_the_range_nothing_overflows():
    for gap in (100.0, 1e4, 3e38):
        for label, n in itertools.product((0, 1), DECLINES):
            field = float32_field(
                surgery_softmax, [[[0.0], [gap]]], [[label]], [[[0.0], [1.0]]], decline=n
            )
            assert bool(field.isfinite().all())
