"""torch.compile(fullgraph=True): same results, no break of the graph, no endless recompiling."""

import functools
import shutil

import pytest
import torch
import torch.nn.functional as F
from torch._dynamo.testing import CompileCounterWithBackend

from gradsurge import Surgery, make_loss, surgery_sigmoid, surgery_softmax

# aot_eager captures forward and backward as inductor does and runs the graphs as they are, in a
# tenth of the time; inductor itself gets one operator and one loss.
QUICK = "aot_eager"
needs_compiler = pytest.mark.skipif(
    not (shutil.which("g++") or shutil.which("clang++")), reason="inductor needs a C++ compiler"
)
BLENDS = [1.0, 0.9, 0.0, 0.25, 0.5, 0.61, 0.02, 0.75, 0.33, 0.99, 0.4]


@pytest.fixture(autouse=True)
def nothing_compiled_yet():
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


def batch(classes, spatial=(5, 6)):
    r = torch.Generator().manual_seed(0)
    logits = torch.randn(2, classes, *spatial, generator=r) * 3
    return logits, torch.randint(0, classes, (2, *spatial), generator=r)


def gradient(function, logits, *args):
    z = logits.clone().requires_grad_()
    value = function(z, *args)
    (value if value.ndim == 0 else value.square().sum()).backward()
    return value.detach(), z.grad


@pytest.mark.parametrize(
    ("operator", "classes", "backend"),
    [
        (functools.partial(surgery_softmax, normalise=True), 2, QUICK),
        pytest.param(
            functools.partial(surgery_softmax, normalise=True), 3, "inductor", marks=needs_compiler
        ),
        (functools.partial(surgery_softmax, normalise=False), 3, QUICK),
        (functools.partial(surgery_sigmoid, normalise="batch"), 3, QUICK),
    ],
)
def test_operators(operator, classes, backend):
    logits, target = batch(classes)
    if operator.func is surgery_sigmoid:
        target = F.one_hot(target, classes).movedim(-1, 1)
    expected = gradient(operator, logits, target)
    found = gradient(torch.compile(operator, fullgraph=True, backend=backend), logits, target)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-7)


@pytest.mark.filterwarnings("ignore:equilibrium. label .2. never occurred")  # it is ignored
@pytest.mark.parametrize(
    ("name", "classes", "options", "backend"),
    [
        ("dice-surgery", 2, {"normalise": False}, QUICK),
        (
            "dice-surgery",
            3,
            {"batch": True, "hard_statistics": True, "normalise": True},
            QUICK,
        ),
        pytest.param("ce+dice-surgery", 2, {"normalise": True}, "inductor", marks=needs_compiler),
        (
            "ce+tversky-surgery",
            3,
            {"class_weights": [0.5, 1.0, 2.0], "ignore_index": 2, "normalise": "batch"},
            QUICK,
        ),
        ("ce+dice", 3, {}, QUICK),
        ("ce+dice-surgery", 8, {"normalise": True}, QUICK),
    ],
)
def test_losses_and_what_they_measure(name, classes, options, backend):
    logits, target = batch(classes)
    surgery = name.endswith("-surgery")
    options = {**options, **({"classes": classes} if surgery else {})}
    eager, compiled = make_loss(name, **options), make_loss(name, **options)
    expected = gradient(eager, logits, target)
    found = gradient(torch.compile(compiled, fullgraph=True, backend=backend), logits, target)
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-7)
    if surgery:
        torch.testing.assert_close(compiled.equilibrium_shift(), eager.equilibrium_shift())


def test_a_wrapped_loss():
    logits, target = batch(3)

    def dice(p, y):
        return 1 - (2 * (p * y).sum() + 1e-5) / (p.sum() + y.sum() + 1e-5)

    def make():
        return Surgery(dice, normalise=True, classes=3)

    expected = gradient(make(), logits, target)
    compiled = torch.compile(make(), fullgraph=True, backend=QUICK)
    torch.testing.assert_close(gradient(compiled, logits, target), expected)


@pytest.mark.parametrize(("name", "classes"), [("dice-surgery", 2), ("ce+dice-surgery", 3)])
def test_a_scheduled_blend_does_not_compile_anew_for_every_value(name, classes):
    logits, target = batch(classes)
    normalise = classes == 3
    loss = make_loss(name, classes=classes, normalise=normalise)
    counter = CompileCounterWithBackend(QUICK)
    compiled = torch.compile(loss, fullgraph=True, backend=counter)
    for blend in BLENDS:
        loss.blend = blend
        found = gradient(compiled, logits, target)
        same = make_loss(name, blend=blend, normalise=normalise)
        expected = gradient(same, logits, target)
        torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-8)
    assert counter.frame_count <= 4  # 1, 0, and in between (twice: the first value is a constant)


def test_other_shapes_and_batches_reuse_the_graph():
    make = functools.partial(make_loss, "ce+dice-surgery", normalise=True)
    loss = make()
    counter = CompileCounterWithBackend(QUICK)
    compiled = torch.compile(loss, fullgraph=True, backend=counter)
    for spatial in [(5, 6), (7, 4), (9, 3), (8, 8), (11, 5)]:
        logits, target = batch(2, spatial)
        found = gradient(compiled, logits, target)
        torch.testing.assert_close(found, gradient(make(), logits, target))
    assert counter.frame_count <= 3


def test_a_wrong_number_of_classes_says_what_to_pass():
    logits, target = batch(3)
    compiled = torch.compile(make_loss("dice-surgery"), fullgraph=True, backend=QUICK)
    with pytest.raises(Exception, match="pass classes=3 to the loss"):
        compiled(logits.requires_grad_(), target)
