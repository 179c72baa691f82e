"""Everything torch does with a function besides one backward pass."""

import functools

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.func import grad, jacrev, vmap
from torch.utils.checkpoint import checkpoint

from gradsurge import Dice, SurgeryRule, make_loss, surgery_sigmoid, surgery_softmax
from tests.properties.asserts import normalised
from tests.properties.formulas import multiclass_field

SURGERY_LOSSES = ["dice-surgery", "ce+dice-surgery"]
CLASSES = [2, 3]


def batch(classes, samples=2, seed=0):
    r = torch.Generator().manual_seed(seed)
    logits = torch.randn(samples, classes, 4, 3, generator=r, dtype=torch.float64) * 2
    return logits, torch.randint(0, classes, (samples, 4, 3), generator=r)


def squares(operator, target):
    """A loss whose dL/dp is 2p: it differs from voxel to voxel."""
    return lambda z: operator(z, target, normalise=True).square().sum()


def backward(loss, logits):
    z = logits.clone().requires_grad_()
    loss(z).backward()
    return z.grad


@pytest.mark.parametrize("classes", CLASSES)
@pytest.mark.parametrize("operator", [surgery_softmax, surgery_sigmoid])
def test_func_grad_vmap_and_jacrev_of_the_operator(operator, classes):
    logits, target = batch(classes, samples=3)
    if operator is surgery_sigmoid:
        target = F.one_hot(target, classes).movedim(-1, 1)
    expected = backward(squares(operator, target), logits)
    torch.testing.assert_close(grad(squares(operator, target))(logits), expected)
    one_sample = vmap(grad(lambda z, y: squares(operator, y[None])(z[None])))
    torch.testing.assert_close(one_sample(logits, target), expected)
    jacobian = jacrev(lambda z: operator(z, target, normalise=True))(logits)
    p = operator(logits, target)
    torch.testing.assert_close(
        (2 * p.flatten()) @ jacobian.flatten(4).flatten(0, 3), expected.flatten()
    )


@pytest.mark.parametrize("classes", CLASSES)
def test_jacobian_of_one_voxel_is_the_rule(classes):
    logits, target = batch(classes)
    for normalise in (False, True):
        rule = functools.partial(surgery_softmax, decline=7.0, scale=0.25, normalise=normalise)
        jacobian = jacrev(lambda z, rule=rule: rule(z, target))(logits)
        for c in range(classes):
            g = torch.zeros_like(logits)
            g[1, c, 2, 1] = 1.0
            g = normalised(g, logits, target, normalise, softmax=True)
            expected = multiclass_field(logits, target, g, 7.0, 0.25)
            torch.testing.assert_close(jacobian[1, c, 2, 1], expected)


@pytest.mark.parametrize("classes", CLASSES)
@pytest.mark.parametrize("name", [*SURGERY_LOSSES, "dice", "ce+dice"])
def test_func_grad_and_vmap_of_the_losses(name, classes):
    logits, target = batch(classes, samples=3)
    options = {"classes": classes, "normalise": classes == 3} if "surgery" in name else {}
    loss = make_loss(name, **options)
    expected = backward(lambda z: loss(z, target), logits)
    torch.testing.assert_close(grad(lambda z: loss(z, target))(logits), expected)
    each = [
        backward(lambda z, y=y: loss(z, y[None]), z[None])[0]
        for z, y in zip(logits, target, strict=True)
    ]
    mapped = vmap(grad(lambda z, y: loss(z[None], y[None])))(logits, target)
    torch.testing.assert_close(mapped, torch.stack(each))
    one = torch.ones(target.shape, dtype=torch.float64)  # of floats, whose NaN is looked for
    masked = vmap(grad(lambda z, y, m: loss(z[None], y[None], m[None])))(logits, target, one)
    torch.testing.assert_close(masked, mapped)


@pytest.mark.parametrize("classes", CLASSES)
def test_double_backward_says_why_not(classes):
    logits, target = batch(classes)
    sources = [squares(surgery_softmax, target), lambda z: make_loss("ce+dice-surgery")(z, target)]
    for source in sources:
        z = logits.clone().requires_grad_()
        (first,) = torch.autograd.grad(source(z), z, create_graph=True)
        with pytest.raises(RuntimeError, match="no scalar loss's gradient"):
            first.square().sum().backward()


@pytest.mark.parametrize("name", ["dice", "ce+tversky"])
@pytest.mark.parametrize(
    ("activation", "classes"), [("softmax", 2), ("softmax", 3), ("sigmoid", 2)]
)
def test_without_surgery_second_derivatives_are_right(name, activation, classes):
    logits, target = batch(classes, samples=1)
    if activation == "sigmoid":
        target = F.one_hot(target, classes).movedim(-1, 1)
    mask = torch.ones(1, 4, 3)
    mask[0, 1] = 0
    loss = make_loss(name, activation=activation)
    z = logits.clone().requires_grad_()
    torch.autograd.gradgradcheck(lambda z: loss(z, target, mask), (z,))


@pytest.mark.parametrize("reentrant", [True, False])
@pytest.mark.parametrize("name", SURGERY_LOSSES)
def test_activation_checkpointing(name, reentrant):
    _, target = batch(2)
    torch.manual_seed(0)
    head = nn.Conv2d(3, 2, 1).double()
    x = torch.randn(2, 3, 4, 3, dtype=torch.float64, requires_grad=True)
    loss = make_loss(name)
    shifts, grads = [], []
    for step in (
        lambda v: loss(head(v), target),
        lambda v: checkpoint(lambda u: loss(head(u), target), v, use_reentrant=reentrant),
    ):
        head.zero_grad()
        loss.load_state_dict(make_loss(name).state_dict())
        step(x).backward()
        grads.append(head.weight.grad.clone())
        shifts.append(loss.equilibrium_shift())
    torch.testing.assert_close(grads[0], grads[1])
    torch.testing.assert_close(shifts[0], shifts[1])


@pytest.mark.parametrize("reentrant", [True, False])
def test_activation_checkpointing_of_the_operator(reentrant):
    logits, target = batch(3)
    expected = backward(squares(surgery_softmax, target), logits)
    found = backward(
        lambda z: checkpoint(squares(surgery_softmax, target), z, use_reentrant=reentrant), logits
    )
    assert torch.equal(found, expected)


@pytest.mark.parametrize("classes", CLASSES)
def test_a_retained_graph_gives_the_same_again(classes):
    logits, target = batch(classes)
    for source in (
        squares(surgery_softmax, target),
        lambda z: Dice(surgery=SurgeryRule(normalise=True))(z, target),
    ):
        z = logits.clone().requires_grad_()
        value = source(z)
        (once,) = torch.autograd.grad(value, z, retain_graph=True)
        (twice,) = torch.autograd.grad(value, z)
        assert torch.equal(once, twice)


def test_gradients_accumulate():
    logits, target = batch(2)
    loss = make_loss("ce+dice-surgery")
    z = logits.clone().requires_grad_()
    loss(z, target).backward()
    once = z.grad.clone()
    loss(z, target).backward()
    torch.testing.assert_close(z.grad, 2 * once)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("classes", CLASSES)
@pytest.mark.parametrize("labels", ["indices", "hard channels", "soft channels"])
def test_nothing_of_the_inputs_is_changed(labels, classes, dtype):
    # The arithmetic works in place to spare the cache; never on what belongs to the caller.
    logits, target = batch(classes)
    activation, operator = ("softmax", surgery_softmax)
    if labels != "indices":
        activation, operator = ("sigmoid", surgery_sigmoid)
        target = F.one_hot(target, classes).movedim(-1, 1)
        target = target.to(dtype) * 0.9 if labels == "soft channels" else target.bool()
    z = logits.to(dtype).requires_grad_()
    mask, g = torch.rand(2, 4, 3) > 0.3, torch.randn_like(z)
    inputs = (z.detach(), target, mask, g)
    before = [x.clone() for x in inputs]
    for blend in (0.0, 0.5, 1.0):
        operator(z, target, normalise=True, mask=mask, blend=blend).backward(g)
        operator(z, target, normalise=True, blend=blend).backward(g)
        options = {"activation": activation, "blend": blend, "normalise": True}
        loss = make_loss("ce+dice-surgery", **options)
        loss(z, target, mask).backward()
        loss(z, target).backward()
    make_loss("ce+dice", activation=activation)(z, target).backward()
    for now, then in zip(inputs, before, strict=True):
        assert torch.equal(now, then)
