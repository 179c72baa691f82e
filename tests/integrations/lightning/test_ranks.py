"""The callback over two ranks of Lightning's own DDP."""

import logging
import os
import warnings

import pytest
import torch
import torch.distributed as dist

from gradsurge.integrations.lightning import CalibrationCallback
from tests.integrations.batches import whole
from tests.integrations.lightning.tasks import QUIET, Task, loader
from tests.ranks import RANKS, run_ranks, write


def on_rank(rank, folder):
    """Join the other rank as torchrun would make it; rank 1 has one batch less."""
    from lightning.pytorch import Trainer
    from lightning.pytorch.plugins.environments import LightningEnvironment
    from lightning.pytorch.strategies import DDPStrategy

    warnings.filterwarnings("ignore", message=".*does not have many workers")
    warnings.filterwarnings("error", message=".*sync_dist.*")
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    environment = LightningEnvironment()
    environment.set_global_rank(rank)
    environment.set_world_size(RANKS)
    dist.init_process_group("gloo", f"file://{folder}/store", rank=rank, world_size=RANKS)
    os.environ["LOCAL_RANK"] = str(rank)
    callback = CalibrationCallback("logits", "multiclass", 3, folder=folder)
    options = {**QUIET, "devices": RANKS, "logger": False, "default_root_dir": folder}
    strategy = DDPStrategy(cluster_environment=environment, process_group_backend="gloo")
    fit = Trainer(callbacks=[callback], strategy=strategy, use_distributed_sampler=False, **options)
    z, y = (part[rank * 4 :][: 4 - 2 * rank] for part in loader("multiclass").dataset.tensors)
    data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(z, y), batch_size=2)
    (found,) = fit.validate(Task(), data, verbose=False)
    found["voxels"] = callback.sketches[0].voxels
    write(folder, rank, {name: torch.tensor(value) for name, value in found.items()})
    dist.barrier()


def test_ranks_are_counted_together(tmp_path):
    expected = whole("multiclass")
    for rank in run_ranks(__name__, tmp_path):
        assert rank["voxels"] == expected.voxels
        assert rank["val_nll"] == pytest.approx(expected.nll(), rel=1e-6)
        assert rank["val_ece"] == pytest.approx(expected.ece(), rel=1e-6)
        assert rank["val_dice"] == pytest.approx(expected.dice_at(0.5), rel=1e-6)
    assert len(list(tmp_path.glob("*.png"))) == 2  # drawn by one rank, a picture a class
