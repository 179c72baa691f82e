"""The loss of the trainer against nnU-Net's formulas, and the surgery on its Dice alone."""

import pytest
import torch

from gradsurge import surgery_sigmoid, surgery_softmax
from gradsurge.integrations.nnunet.loss import Task, TrainerLoss, build_loss
from gradsurge.integrations.nnunet.settings import TrainerSettings
from tests.integrations.nnunet import reference
from tests.integrations.nnunet.cases import TASKS, WEIGHTS, batch_of, gradients


def nnunets(task, operator=None):
    """nnU-Net's loss over the resolutions, with an operator in the place of its activation."""

    def level(z, y):
        if task.regions:
            kept = None if task.ignore_label is None else y[:, -1:] == 0
            target = y if kept is None else y[:, :-1]
            act = operator and (lambda logits: operator(logits, target, kept))
            return reference.regions(
                z, y, batch=task.batch_dice, ignored_last=kept is not None, activation=act
            )
        act = operator and (lambda logits: operator(logits, y, task.ignore_label))
        return reference.classes(
            z, y.double(), batch=task.batch_dice, ignore=task.ignore_label, activation=act
        )

    return lambda outputs, targets: sum(
        w * level(z, y) for w, z, y in zip(WEIGHTS, outputs, targets, strict=True) if w
    )


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_without_surgery_value_and_gradient_are_nnunets(task):
    batch = batch_of(task)
    expected = gradients(nnunets(task), batch)
    found = gradients(build_loss(TrainerSettings(loss="ce+dice"), task, WEIGHTS), batch)
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_surgery_keeps_the_value_and_operates_on_the_dice_alone(task):
    rule = {"decline": 8.0, "scale": 0.3}
    normalise = "batch" if task.batch_dice else True

    def operator(z, target, left_out):
        if task.regions:
            return surgery_sigmoid(z, target, mask=left_out, normalise=normalise, **rule)
        return surgery_softmax(z, target, ignore_index=left_out, normalise=normalise, **rule)

    batch = batch_of(task)
    plain = gradients(nnunets(task), batch)
    expected = gradients(nnunets(task, operator), batch)
    loss = build_loss(TrainerSettings(normalise=True, **rule), task, WEIGHTS)
    found = gradients(loss, batch)
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-9)
    torch.testing.assert_close(found[0], plain[0], rtol=1e-6, atol=1e-9)
    assert not torch.allclose(found[1][0], plain[1][0], rtol=0.01)


def test_without_deep_supervision_it_takes_single_tensors():
    task = TASKS["regions, ignore label"]
    outputs, targets = batch_of(task)
    deep = build_loss(TrainerSettings(), task, [1.0])
    flat = build_loss(TrainerSettings(), task, None)
    torch.testing.assert_close(flat(outputs[0], targets[0]), deep(outputs[:1], targets[:1]))


def test_the_validation_sees_the_finest_output_only_while_it_watches():
    task = TASKS["classes"]
    outputs, targets = batch_of(task)
    loss, seen = build_loss(TrainerSettings(), task, WEIGHTS), []
    before = loss(outputs, targets)
    loss.watch = lambda z, y: seen.append((z, y, torch.is_grad_enabled()))
    torch.testing.assert_close(loss(outputs, targets), before)
    loss.watch = None
    loss(outputs, targets)
    assert len(seen) == 1
    assert seen[0][0] is outputs[0]
    assert seen[0][1] is targets[0]
    assert seen[0][2] is False


def test_another_loss_is_passed_through_as_it_is():
    own = torch.nn.MSELoss()
    z = torch.randn(2, 3)
    assert TrainerLoss(own)(z, z + 2).item() == pytest.approx(4.0)


@pytest.mark.parametrize(
    "name", ["ce", "svls", "nacl+dice", "dice++", "ace+dice", "tversky-surgery"]
)
def test_other_losses_of_the_catalogue_train(name):
    task = TASKS["classes, ignore label, batch Dice"]
    value, found = gradients(build_loss(TrainerSettings(loss=name), task, WEIGHTS), batch_of(task))
    assert torch.isfinite(value)
    assert all(torch.isfinite(g).all() and g.any() for g in found)


def test_options_reach_the_loss():
    settings = TrainerSettings(
        loss="ce+tversky-surgery", loss_options={"a": 0.3, "weights": [1, 2]}
    )
    loss = build_loss(settings, Task(2), None).loss
    assert (loss.region.a, loss.weights) == (0.3, (1.0, 2.0))


@pytest.mark.parametrize(
    ("settings", "task", "said"),
    [
        (TrainerSettings(loss="svls"), TASKS["regions"], "has regions, which may overlap"),
        (TrainerSettings(loss_options={"gamma": 2}), Task(2), "unknown option 'gamma'"),
    ],
)
def test_what_cannot_be_is_said(settings, task, said):
    with pytest.raises(ValueError, match=said):
        build_loss(settings, task, WEIGHTS)
