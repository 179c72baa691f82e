"""Which dtype comes back, and which one the arithmetic runs in."""

import functools

import pytest
import torch
import torch.nn.functional as F

from gradsurge import Surgery, make_loss, surgery_sigmoid, surgery_softmax

OPERATORS = [surgery_softmax, surgery_sigmoid]
HALVES = [torch.float16, torch.bfloat16]


def batch(operator, classes, dtype):
    r = torch.Generator().manual_seed(0)
    logits = (torch.randn(2, classes, 6, 5, generator=r) * 6).to(dtype)
    g = torch.randn(2, classes, 6, 5, generator=r).to(dtype)
    target = torch.randint(0, classes, (2, 6, 5), generator=r)
    if operator is surgery_sigmoid:
        target = F.one_hot(target, classes).movedim(-1, 1)
    return logits, target, g


def field(operator, logits, target, g):
    z = logits.clone().requires_grad_()
    p = operator(z, target, normalise=logits.shape[1] == 3)
    return p, torch.autograd.grad(p, z, g)[0]


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("dtype", HALVES)
def test_halves_are_float32_results_rounded(operator, classes, dtype):
    logits, target, g = batch(operator, classes, dtype)
    p, found = field(operator, logits, target, g)
    p32, expected = field(operator, logits.float(), target, g.float())
    assert p.dtype == found.dtype == dtype
    assert torch.equal(p, p32.to(dtype))
    assert torch.equal(found, expected.to(dtype))


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("classes", [2, 3])
def test_float64_stays_float64(operator, classes):
    logits, target, g = batch(operator, classes, torch.float64)
    p, found = field(operator, logits, target, g)
    p32, found32 = field(operator, logits.float(), target, g.float())
    assert p.dtype == found.dtype == torch.float64
    torch.testing.assert_close(found.float(), found32, rtol=1e-5, atol=1e-8)
    assert not torch.equal(found.float(), found)
    assert not torch.equal(p, p32)


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_autocast_changes_nothing(operator, classes, dtype):
    logits, target, g = batch(operator, classes, dtype)
    expected = field(operator, logits, target, g)
    with torch.autocast("cpu", torch.bfloat16):
        found = field(operator, logits, target, g)
    for one, other in zip(found, expected, strict=True):
        assert one.dtype == dtype
        assert torch.equal(one, other)


@pytest.mark.parametrize("name", ["dice-surgery", "ce+tversky-surgery", "ce+generalised-dice"])
@pytest.mark.parametrize("classes", [2, 3])
def test_losses_of_halves_are_float32_losses(name, classes):
    logits, target, _ = batch(surgery_softmax, classes, torch.bfloat16)
    options = {"normalise": classes == 3} if name.endswith("-surgery") else {}
    make = functools.partial(make_loss, name, **options)
    results = []
    for z in (logits.clone(), logits.float()):
        z.requires_grad_()
        value = make()(z, target)
        value.backward()
        assert value.dtype == torch.float32
        assert z.grad.dtype == z.dtype
        results.append((value, z.grad))
    assert torch.equal(results[0][0], results[1][0])
    assert torch.equal(results[0][1], results[1][1].to(torch.bfloat16))
    with torch.autocast("cpu", torch.bfloat16):
        z = logits.clone().requires_grad_()
        value = make()(z, target)
        value.backward()
    assert torch.equal(value, results[0][0])
    assert torch.equal(z.grad, results[0][1])


@pytest.mark.parametrize("make", [lambda: make_loss("dice-surgery"), lambda: Surgery(_dice)])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("classes", [2, 3])
def test_autocast_does_not_round_what_is_measured(make, dtype, classes):
    r = torch.Generator().manual_seed(0)
    logits = torch.randn(1, classes, 300, 300, generator=r)
    logits[:, 0] += 4  # over 65504 voxels of background, more than a float16 can count
    target = torch.randint(0, classes, (1, 300, 300), generator=r)
    target[:, :280] = 0
    one, other = make(), make()
    one(logits.clone().requires_grad_(), target).backward()
    with torch.autocast("cpu", dtype):
        other(logits.clone().requires_grad_(), target).backward()
    torch.testing.assert_close(other.equilibrium_shift(), one.equilibrium_shift())


def _dice(p, y):
    over = (0, 2, 3)
    return 1 - ((2 * (p * y).sum(over)) / (p + y).sum(over)).mean()


def test_large_half_logits_do_not_overflow_in_the_sums():
    # 65504 is the largest float16: a sum of probabilities over more voxels than that must hold.
    logits = torch.zeros(1, 2, 300, 300, dtype=torch.float16)
    logits[:, 1] = 4.0
    target = torch.ones(1, 300, 300, dtype=torch.uint8)
    value = make_loss("dice")(logits, target).item()
    share = torch.tensor(4.0, dtype=torch.float64).sigmoid().item()
    assert value == pytest.approx(1 - 2 * share / (share + 1), rel=1e-6)
