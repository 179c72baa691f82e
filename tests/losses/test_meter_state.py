"""The meter's state survives what happens to it: loading, moving, torch.func, odd classes."""

import copy

import pytest
import torch

import gradsurge as gs
from gradsurge.calibration import posterior_from_equilibrium


def train(loss, classes=2, labels=None):
    labels = torch.randint(0, classes, (2, 8, 8)) if labels is None else labels
    logits = torch.randn(2, classes, 8, 8, requires_grad=True)
    loss(logits, labels).backward()
    return loss


def test_an_ordinary_step_after_torch_func_is_measured():
    loss = gs.make_loss("dice-surgery")
    y = torch.randint(0, 3, (1, 6, 6))
    torch.func.grad(lambda z: loss(z, y))(torch.randn(1, 3, 6, 6))
    train(loss, classes=3)
    assert loss.equilibrium_shift().shape == (3,)
    assert copy.deepcopy(loss).equilibrium_shift().equal(loss.equilibrium_shift())


def test_bad_logits_do_not_wipe_the_measurement():
    loss = train(gs.make_loss("dice-surgery"))
    before = loss.meter.totals.clone()
    with pytest.raises(ValueError, match="C >= 2"):
        loss(torch.randn(1, 1, 4, 4, requires_grad=True), torch.zeros(1, 4, 4).long())
    assert loss.meter.totals.equal(before)


def test_the_state_is_moved_and_not_rounded():
    loss = train(gs.make_loss("dice-surgery"))
    before = loss.equilibrium_shift()

    def refuse_double(t):  # as a device without float64 does
        assert t.dtype != torch.float64
        return t.half() if t.is_floating_point() else t

    loss._apply(refuse_double)
    assert loss.equilibrium_shift().equal(before)


def test_states_of_plain_and_operated_losses_fit_each_other():
    surgery, plain = train(gs.make_loss("dice-surgery")), gs.make_loss("dice")
    plain.load_state_dict(surgery.state_dict())
    fresh = gs.make_loss("dice-surgery")
    fresh.load_state_dict(plain.state_dict())
    with pytest.raises(RuntimeError, match="nothing measured"):
        fresh.equilibrium_shift()
    train(fresh)
    assert fresh.equilibrium_shift().isfinite().all()


def test_a_sigmoid_state_is_refused_by_a_softmax_loss():
    sigmoid = gs.make_loss("dice-surgery", activation="sigmoid")
    y = torch.randint(0, 2, (2, 3, 8, 8))
    sigmoid(torch.randn(2, 3, 8, 8, requires_grad=True), y).backward()
    with pytest.raises(RuntimeError, match="not the equilibrium of a softmax loss"):
        gs.make_loss("dice-surgery").load_state_dict(sigmoid.state_dict())


def test_a_class_that_never_occurs_shifts_nothing_and_says_so():
    loss = train(gs.make_loss("dice-surgery"), 3, torch.randint(0, 2, (2, 8, 8)))
    with pytest.warns(UserWarning, match=r"label \[2\] never occurred"):
        shift = loss.equilibrium_shift()
    assert shift[2] == 0
    assert shift[1] > 0
    with pytest.warns(UserWarning, match="never occurred"):
        rates = loss.equilibrium().region
    assert rates.isfinite().all()


def test_a_pair_of_classes_that_is_never_in_doubt_shifts_nothing():
    loss, y = gs.make_loss("dice-surgery"), torch.tensor([[0, 0, 1, 1, 2]])
    logits = torch.zeros(1, 3, 5)
    logits[:, 2, :4] = logits[:, 0, 4] = -torch.inf  # 2 where it is not: never; 0 where 2 is: never
    loss(logits.requires_grad_(), y).backward()
    shift, rates = loss.equilibrium_shift(), loss.equilibrium().region
    assert rates.isfinite().all()
    assert rates[0, 0, 2] == rates[0, 2, 0] > 0
    assert shift[2] == 0
    assert shift[1] > 0


def test_a_class_that_is_ruled_out_everywhere_leaves_the_others_their_correction():
    loss, y = gs.make_loss("dice-surgery"), torch.tensor([[0, 0, 1, 1, 1]])
    logits = torch.randn(1, 3, 5, generator=torch.Generator().manual_seed(0))
    logits[:, 2] = -torch.inf
    loss(logits.requires_grad_(), y).backward()
    with pytest.warns(UserWarning, match=r"label \[2\] never occurred"):
        rates = loss.equilibrium()[:3]
    p = posterior_from_equilibrium(logits.detach().softmax(1), *rates)
    assert p.isfinite().all()
    two = gs.make_loss("dice-surgery")
    two(logits.detach()[:, :2].requires_grad_(), y).backward()
    expected = posterior_from_equilibrium(logits.detach()[:, :2].softmax(1), *two.equilibrium()[:3])
    torch.testing.assert_close(p[:, :2], expected, rtol=1e-4, atol=1e-6)


@pytest.mark.filterwarnings("ignore:Using backward.. with create_graph=True:UserWarning")
def test_a_graph_of_the_backward_pass_does_not_stay_in_the_measurement():
    loss = gs.make_loss("dice-surgery")
    logits = torch.randn(1, 2, 4, 4, requires_grad=True)
    loss(logits, torch.randint(0, 2, (1, 4, 4))).backward(create_graph=True)
    assert not loss.meter.totals.requires_grad
    assert copy.deepcopy(loss).equilibrium_shift().equal(loss.equilibrium_shift())


def test_a_loss_pickled_before_steps_were_counted_starts_anew():
    loss = train(gs.make_loss("dice-surgery"))
    state = loss.meter.__getstate__()
    state["_buffers"] = {"totals": torch.ones(1, 2, 4)}
    loss.meter.__setstate__(state)
    with pytest.raises(RuntimeError, match="nothing measured"):
        loss.equilibrium_shift()
    assert train(loss).equilibrium_shift().isfinite().all()


@pytest.mark.parametrize("totals", [torch.ones(3), torch.ones(1, 2, 4)])
def test_states_that_make_no_sense_are_named(totals):
    state = {"meter.totals": totals, "meter.steps": torch.ones(())}
    with pytest.raises(RuntimeError, match="not the equilibrium of a softmax loss"):
        gs.make_loss("dice-surgery").load_state_dict(state)


@pytest.mark.parametrize("name", ["dice-surgery", "ce+dice-surgery"])
def test_the_state_of_an_earlier_version_starts_anew_and_says_so(name):
    state = {key: torch.ones(1, 2, 4) for key in train(gs.make_loss(name)).state_dict()}
    old = {key: value for key, value in state.items() if key.endswith("totals")}
    loss = train(gs.make_loss(name))
    with pytest.warns(UserWarning, match="earlier version, in another way; measuring starts anew"):
        loss.load_state_dict(old)
    with pytest.raises(RuntimeError, match="nothing measured"):
        loss.equilibrium_shift()
    assert train(loss).equilibrium_shift().isfinite().all()


def test_sure_and_right_voxels_leave_no_doubt_and_are_named():
    loss, y = gs.make_loss("dice-surgery"), torch.tensor([[0, 0, 1, 1]])
    logits = torch.tensor([[[0.0, 1.0, -20.0, -20.0], [0.0, 0.0, 20.0, 20.0]]], requires_grad=True)
    loss(logits, y).backward()
    with pytest.warns(UserWarning, match=r"label \[1\] never occurred .* or was never in doubt"):
        assert loss.equilibrium_shift()[1] == 0


def test_a_loss_that_pushes_the_wrong_way_is_named():
    loss = gs.Surgery(lambda p, y: 1 + 2 * (p * y)[:, 1].sum() / (p + y)[:, 1].sum())
    train(loss)
    with pytest.raises(RuntimeError, match="away from their label"):
        loss.equilibrium_shift()


def test_the_rule_shows_in_print():
    text = repr(gs.make_loss("tversky-surgery", a=0.3, decline=7.0, scale=0.3, normalise="batch"))
    assert "SurgeryRule(decline=7.0, scale=0.3, normalise='batch')" in text


@pytest.mark.parametrize("wrong", [True, 20.0, "surgery"])
def test_surgery_must_be_a_rule(wrong):
    with pytest.raises(TypeError, match="surgery: expected a SurgeryRule"):
        gs.Dice(surgery=wrong)


def test_hard_statistics_need_surgery():
    with pytest.raises(ValueError, match="hard_statistics"):
        gs.Dice(hard_statistics=True)
