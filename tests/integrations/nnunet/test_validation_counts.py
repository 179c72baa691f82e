"""NLL and ECE of validation patches against plain NumPy; two ranks against one process."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.distributed as dist

from gradsurge.integrations.nnunet import validation_counts
from gradsurge.integrations.nnunet.loss import Task
from gradsurge.integrations.nnunet.validation_counts import ValidationCounts, spread
from tests.integrations.nnunet.cases import TASKS, batch_of
from tests.ranks import RANKS, run_ranks

CPU = torch.device("cpu")


def plain_nll(z, y, task):
    """Mean of -log P(label) over voxels (and channels) that have a label."""
    z = z.double().numpy()
    if task.regions:
        kept = np.ones_like(y[:, :1]) if task.ignore_label is None else ~y[:, -1:].numpy()
        labels = y[:, : task.heads].numpy()
        p = 1 / (1 + np.exp(-z))
        costs = -np.log(np.where(labels, p, 1 - p))
        return costs[np.broadcast_to(kept, costs.shape).astype(bool)].mean()
    p = np.exp(z) / np.exp(z).sum(1, keepdims=True)
    numbers = y[:, 0].numpy().astype(int)
    kept = numbers != (-1 if task.ignore_label is None else task.ignore_label)
    of_true = np.take_along_axis(p, np.where(kept, numbers, 0)[:, None], 1)[:, 0]
    return -np.log(of_true[kept]).mean()


def plain_ece(p, y, bins=15):
    """Sum over bins (lo, hi] of their share times |mean y - mean p|."""
    which = np.ceil(p * bins).astype(int).clip(1) - 1
    gaps = [abs((y - p)[which == k].sum()) for k in range(bins)]
    return sum(gaps) / p.size


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_nll_is_that_of_all_labelled_voxels(task):
    counts = ValidationCounts(task, steps=2)
    batches = [batch_of(task, seed, dtype=torch.float32) for seed in (0, 1)]
    for outputs, targets in batches:
        counts.add(outputs[0], targets[0])
    z, y = (torch.cat([part[k][0] for part in batches]) for k in (0, 1))
    assert counts.scores(CPU)[0] == pytest.approx(plain_nll(z, y, task), rel=1e-6)


def test_ece_is_the_mean_over_the_foreground():
    task = TASKS["classes"]
    outputs, targets = batch_of(task, dtype=torch.float32)
    counts = ValidationCounts(task, steps=1)
    counts.add(outputs[0], targets[0])
    p, y = outputs[0].double().softmax(1).numpy(), targets[0][:, 0].numpy()
    expected = np.mean([plain_ece(p[:, c].ravel(), (y == c).ravel()) for c in (1, 2)])
    assert counts.scores(CPU)[1] == pytest.approx(expected, rel=1e-9)


def test_two_classes_are_one_foreground():
    z = torch.tensor([[[2.0, -1.0], [0.0, 0.0]]])
    counts = ValidationCounts(Task(2), steps=1)
    counts.add(z, torch.tensor([[[0, 1]]]).short())
    expected = np.mean([math.log(1 + math.exp(-2.0)), math.log(1 + math.exp(-1.0))])
    assert counts.scores(CPU)[0] == pytest.approx(expected)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_of_mixed_training_is_taken(dtype):
    task = TASKS["classes"]
    outputs, targets = batch_of(task, dtype=torch.float32)
    counts = ValidationCounts(task, steps=1)
    counts.add(outputs[0].to(dtype), targets[0])
    assert counts.scores(CPU)[0] == pytest.approx(plain_nll(outputs[0], targets[0], task), rel=0.02)


def test_a_batch_with_nan_is_left_out_and_nothing_is_nan():
    task = TASKS["classes"]
    outputs, targets = batch_of(task, dtype=torch.float32)
    counts = ValidationCounts(task, steps=2)
    counts.add(outputs[0] * math.nan, targets[0])
    assert all(map(math.isnan, counts.scores(CPU)))
    counts.add(outputs[0], targets[0])
    assert counts.scores(CPU)[0] == pytest.approx(plain_nll(outputs[0], targets[0], task), rel=1e-6)


@pytest.mark.parametrize(
    ("number", "most"), [(1000, 7), (6 * 8 * 4, 50), (12, 3), (97, 96), (5, 9)]
)
def test_spread_voxels_are_few_distinct_and_in_all_columns(number, most):
    places = spread(number, most)
    assert 1 <= len(places) <= most
    assert places.max() < number
    steps = set(places.diff().tolist())
    assert len(steps) <= 1
    assert all(math.gcd(step, number) == 1 for step in steps)


def test_a_large_epoch_is_counted_in_part_and_close(monkeypatch):
    monkeypatch.setattr(validation_counts, "VOXELS_AN_EPOCH", 20_000)
    torch.manual_seed(0)
    z = torch.randn(2, 2, 40, 50, 30)
    y = (torch.rand(2, 1, 40, 50, 30) < (z[:, 1:] - z[:, :1]).sigmoid()).short()  # calibrated
    counts = ValidationCounts(Task(2), steps=1)
    counts.add(z, y)
    assert 15_000 < counts.sketch.voxels <= 20_000
    assert counts.scores(CPU)[0] == pytest.approx(plain_nll(z, y, Task(2)), rel=0.03)


def on_rank(rank, folder):
    """What each process runs."""
    dist.init_process_group("gloo", f"file://{folder}/store", rank=rank, world_size=RANKS)
    task = TASKS["classes, ignore label"]
    counts = ValidationCounts(task, steps=1)
    outputs, targets = batch_of(task, seed=rank, samples=1 + rank, dtype=torch.float32)
    counts.add(outputs[0], targets[0])
    Path(folder, f"{rank}.json").write_text(json.dumps(counts.scores(CPU)))
    dist.barrier()


def test_ranks_are_summed(tmp_path):
    task = TASKS["classes, ignore label"]
    together = ValidationCounts(task, steps=2)
    for rank in range(RANKS):
        outputs, targets = batch_of(task, seed=rank, samples=1 + rank, dtype=torch.float32)
        together.add(outputs[0], targets[0])
    for found in run_ranks("tests.integrations.nnunet.test_validation_counts", tmp_path):
        assert found == pytest.approx(together.scores(CPU), rel=1e-12)
