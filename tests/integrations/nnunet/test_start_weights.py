"""Weights of another training: all of them, and nothing that a checkpoint might run."""

import os

import numpy as np
import pytest
import torch
from torch import nn

from gradsurge.integrations.nnunet.start_weights import checkpoint_of, load_weights


def network():
    return nn.Sequential(nn.Conv2d(1, 2, 3), nn.Conv2d(2, 2, 1))


@pytest.fixture
def file(tmp_path):
    """As nnU-Net writes it: numbers of NumPy in the log, a device among the arguments."""
    content = {
        "network_weights": network().state_dict(),
        "logging": {"mean_fg_dice": [np.float32(0.5), np.float64(0.6), np.int64(3)]},
        "init_args": {"device": torch.device("cpu"), "fold": 0},
        "_best_ema": np.float32(0.5),
        "grad_scaler_state": None,
    }
    torch.save(content, tmp_path / "checkpoint_final.pth")
    return tmp_path / "checkpoint_final.pth"


class Wrapped(nn.Module):
    """As DistributedDataParallel holds a network."""

    def __init__(self, module):
        super().__init__()
        self.module = module


@pytest.mark.parametrize(
    "wrap", [lambda n: n, Wrapped, torch.compile], ids=["bare", "ddp", "compiled"]
)
def test_all_weights_arrive(file, wrap):
    mine = network()
    load_weights(wrap(mine), file)
    theirs = torch.load(file, weights_only=False)["network_weights"]
    torch.testing.assert_close(dict(mine.state_dict()), dict(theirs))


def test_it_tells_the_fold_where_the_checkpoint_does(file):
    assert load_weights(network(), file) == 0
    torch.save({"network_weights": network().state_dict()}, file)
    assert load_weights(network(), file) is None


def test_of_a_model_the_checkpoint_of_the_fold_is_taken(tmp_path):
    assert checkpoint_of(tmp_path, 3) == tmp_path / "fold_3" / "checkpoint_final.pth"
    assert checkpoint_of(str(tmp_path), "all").parent.name == "fold_all"
    file = tmp_path / "x.pth"
    assert checkpoint_of(file, 3) == file


def test_weights_saved_under_data_parallel_arrive(file):
    content = torch.load(file, weights_only=False)
    content["network_weights"] = {f"module.{k}": v for k, v in content["network_weights"].items()}
    torch.save(content, file)
    load_weights(network(), file)


def test_another_network_is_refused_in_a_line(file):
    with pytest.raises(ValueError, match="is not the one of these plans") as told:
        load_weights(nn.Conv2d(1, 3, 3), file)
    assert "\n" not in str(told.value)


class Hostile:
    def __reduce__(self):
        return eval, ("__import__('os').environ.update(HOSTILE='1')",)


@pytest.mark.parametrize("kind", ["hostile", "text", "other", "folder", "missing"])
def test_what_is_no_checkpoint_is_refused_and_runs_nothing(tmp_path, kind, monkeypatch):
    monkeypatch.delenv("HOSTILE", raising=False)
    file = tmp_path / "x.pth"
    if kind == "hostile":
        torch.save({"network_weights": Hostile()}, file)
    elif kind == "text":
        file.write_text("weights")
    elif kind == "other":
        torch.save({"state_dict": {}}, file)
    elif kind == "folder":
        file.mkdir()
    with pytest.raises(ValueError, match=r"start_from: .*x\.pth"):
        load_weights(network(), file)
    assert "HOSTILE" not in os.environ
