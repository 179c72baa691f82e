"""Whether two trainings are the same, bit by bit."""

import torch

from gradsurge.training import read_checkpoint
from gradsurge.training.observers import read_metrics


def assert_same(one, other, where=""):
    assert type(one) is type(other), where
    if isinstance(one, torch.Tensor):
        assert torch.equal(one, other), where
    elif isinstance(one, dict):
        assert one.keys() == other.keys(), where
        for key in one:
            assert_same(one[key], other[key], f"{where}/{key}")
    elif isinstance(one, list | tuple):
        assert len(one) == len(other), where
        for i, (a, b) in enumerate(zip(one, other, strict=True)):
            assert_same(a, b, f"{where}/{i}")
    else:
        assert one == other, where


def assert_same_run(one, other):
    """Both checkpoints and all lines of the metrics, but for what was measured by the clock."""
    for name in ("last.pt", "best.pt"):
        assert_same(vars(read_checkpoint(one / name)), vars(read_checkpoint(other / name)), name)
    assert lines(one) == lines(other)


def lines(folder):
    timed = ("seconds", "data_share")
    return [
        {name: value for name, value in line.items() if name not in timed}
        for line in read_metrics(folder / "metrics.jsonl")
    ]
