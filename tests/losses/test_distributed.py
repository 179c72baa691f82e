"""Two gloo processes under DistributedDataParallel against one process with the whole batch."""

import json
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from gradsurge import make_loss
from gradsurge.losses.ranks import sum_over_ranks
from tests.ranks import RANKS, run_ranks

CASES = {
    "batch dice": ("dice", {"batch": True}, 2),
    "batch dice-surgery": ("dice-surgery", {"batch": True, "normalise": True}, 2),
    "batch dice-surgery, plain": ("dice-surgery", {"batch": True, "normalise": False}, 2),
    "batch dice-surgery, three classes": ("dice-surgery", {"batch": True, "normalise": True}, 3),
    "batch dice-surgery, hard": (
        "dice-surgery",
        {"batch": True, "normalise": True, "hard_statistics": True},
        2,
    ),
    "batch generalised-dice-surgery": (
        "generalised-dice-surgery",
        {"batch": True, "normalise": True},
        3,
    ),
    "batch ce+tversky-surgery": (
        "ce+tversky-surgery",
        {"batch": True, "normalise": "batch", "a": 0.3},
        2,
    ),
    "dice-surgery": ("dice-surgery", {"normalise": True}, 2),
    "dice-surgery, one factor for the batch": ("dice-surgery", {"normalise": "batch"}, 3),
    "ce+dice-surgery": ("ce+dice-surgery", {"normalise": False}, 3),
    "ce, voxels left out": ("ce", {"ignore_index": 2}, 3),
    "ce+dice, voxels left out": ("ce+dice", {"ignore_index": 2}, 3),
    "nacl, voxels left out": ("nacl", {"ignore_index": 2, "strength": 0.7}, 3),
    "ce, classes weighted": ("ce", {"class_weights": (1.0, 5.0)}, 2),
}
# Of these the ranks measure what one process measures on the whole batch.
MEASURED = [case for case, (name, _, _) in CASES.items() if name.endswith("-surgery")]


def model_and_batch(classes):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, classes, 1))
    x = torch.randn(4, 1, 6, 5)
    target = torch.randint(0, classes, (4, 6, 5))
    target[:2] *= torch.rand(2, 6, 5) > 0.7  # the halves differ, so their own Dice does, too
    return model.double(), x.double(), target


def gradients(model):
    return torch.cat([p.grad.flatten() for p in model.parameters()])


def one_process(name, options, classes):
    model, x, target = model_and_batch(classes)
    loss = make_loss(name, **options)
    value = loss(model(x), target)
    value.backward()
    return value.detach(), gradients(model), loss


def on_rank(rank, folder):
    """What each process runs; what it finds goes to a file."""
    dist.init_process_group("gloo", f"file://{folder}/store", rank=rank, world_size=RANKS)
    found = {}
    for case, (name, options, classes) in CASES.items():
        model, x, target = model_and_batch(classes)
        mine = slice(rank * 2, rank * 2 + 2)
        loss, parallel = make_loss(name, **options), DistributedDataParallel(model)
        value = loss(parallel(x[mine]), target[mine])
        value.backward()
        found[case] = {"value": value.item(), "gradient": gradients(model).tolist()}
        if case in MEASURED:
            found[case]["rates"] = loss.equilibrium().region.tolist()
            found[case]["shift"] = loss.equilibrium_shift().tolist()
    if rank == 0:  # validation on one rank alone must not wait for the others
        model, x, target = model_and_batch(2)
        loss = make_loss("ce+dice-surgery", batch=True)
        with torch.no_grad():
            found["no_grad"] = loss(model(x), target).item()
        found["eval"] = loss.eval()(model(x).detach(), target).item()
        with torch.no_grad():
            found["ce"] = make_loss("ce", ignore_index=1)(model(x), target).item()
    Path(folder, f"{rank}.json").write_text(json.dumps(found))
    dist.barrier()


def assert_gradients_are_those_of_the_whole_batch(ranks, case):
    value, expected, _ = one_process(*CASES[case])
    for rank in ranks:
        gradient = torch.tensor(rank[case]["gradient"], dtype=torch.float64)
        torch.testing.assert_close(gradient, expected, rtol=1e-6, atol=1e-9, msg=case)
    values = torch.tensor([rank[case]["value"] for rank in ranks], dtype=torch.float64)
    torch.testing.assert_close(values.mean(), value, rtol=1e-9, atol=0, msg=case)


def assert_rates_are_those_of_the_whole_batch(ranks, case):
    _, _, loss = one_process(*CASES[case])
    for rank in ranks:
        shift, rates = loss.equilibrium_shift(), loss.equilibrium().region
        assert rank[case]["shift"] == pytest.approx(shift.tolist(), rel=1e-4, abs=1e-5), case
        torch.testing.assert_close(torch.tensor(rank[case]["rates"]), rates, rtol=1e-4, atol=1e-7)


def assert_one_value_on_all_ranks(ranks, case):
    value, _, _ = one_process(*CASES[case])
    for rank in ranks:
        assert rank[case]["value"] == pytest.approx(value.item(), rel=1e-9)


def assert_evaluation_on_a_single_rank_did_not_wait(ranks):
    model, x, target = model_and_batch(2)
    expected = make_loss("ce+dice", batch=True)(model(x), target).item()
    assert ranks[0]["no_grad"] == pytest.approx(expected, rel=1e-9)
    assert ranks[0]["eval"] == pytest.approx(expected, rel=1e-9)
    of_ce = torch.nn.functional.cross_entropy(model(x), target, ignore_index=1)
    assert ranks[0]["ce"] == pytest.approx(of_ce.item(), rel=1e-9)


def test_two_ranks(tmp_path):
    # One test, since starting the processes is what costs.
    ranks = run_ranks(__name__, tmp_path)
    for case in CASES:
        assert_gradients_are_those_of_the_whole_batch(ranks, case)
    for case in MEASURED:
        assert_rates_are_those_of_the_whole_batch(ranks, case)
    assert_one_value_on_all_ranks(ranks, "batch dice-surgery")
    per_sample = [rank["dice-surgery"]["value"] for rank in ranks]
    assert per_sample[0] != pytest.approx(per_sample[1], rel=1e-3)
    assert_evaluation_on_a_single_rank_did_not_wait(ranks)


def test_without_ranks_nothing_is_added():
    x = torch.ones(3, requires_grad=True)
    assert sum_over_ranks(x) is x
