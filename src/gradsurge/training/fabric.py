"""The device, or devices, that a training runs on."""

import atexit
import gc
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, get_args

import torch
import torch.distributed as dist

from gradsurge.training.quiet import quiet
from gradsurge.training.settings import Precision

if TYPE_CHECKING:
    from lightning_fabric import Fabric


def make_fabric(device: str = "auto", precision: Precision = "32-true") -> "Fabric":
    """Return Fabric, launched: one process on one device, or one of several as the launcher says.

    One machine, two processes (gloo on CPUs, NCCL on GPUs)::

        torchrun --nproc-per-node 2 -m gradsurge train ...

    Two machines: the same on both, on a folder that both see::

        torchrun --nnodes 2 --nproc-per-node 4 --rdzv-backend c10d --rdzv-endpoint HOST:29500 ...

    SLURM: one task a device; the environment of srun is read, no torchrun needed. SIGTERM before
    the time limit saves the state, and a job that is queued again (scontrol requeue) goes on::

        #SBATCH --nodes 2 --ntasks-per-node 4 --gpus-per-node 4 --signal TERM@120
        srun gradsurge train ... --resume

    Args:
        device: "cpu", "cuda", "cuda:1", "mps", or "auto": a CUDA device if there is one, else CPU.
        precision: see `TrainSettings`; "auto" is half precision on CUDA, float32 elsewhere.

    Raises:
        ValueError: there is no such device or precision.
    """
    kind, number = _parse(device)
    chosen = _choose_precision(precision, kind)
    local, nodes = ranks_of(os.environ)
    if kind == "cuda":
        # Deterministic matrix products need it before CUDA starts.
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    with quiet():
        from lightning_fabric import Fabric
    with quiet():  # anew: the import itself turns its logger on
        fabric = Fabric(
            accelerator=kind,
            devices=local if number is None or kind == "cpu" else [number],
            num_nodes=nodes,
            strategy="ddp" if local * nodes > 1 else "auto",
            precision=chosen,
        )
        fabric.launch()
    if fabric.world_size > 1:
        atexit.register(_leave_ranks)
    return fabric


def ranks_of(environment: Mapping[str, str]) -> tuple[int, int]:
    """Return the processes on this node and the number of nodes, as torchrun or srun say.

    >>> ranks_of({"WORLD_SIZE": "8", "LOCAL_WORLD_SIZE": "4", "TORCHELASTIC_RUN_ID": "none"})
    (4, 2)
    >>> ranks_of({"SLURM_NTASKS": "8", "SLURM_NNODES": "2", "SLURM_STEP_ID": "0"})
    (4, 2)
    >>> ranks_of({})
    (1, 1)
    """
    if "LOCAL_WORLD_SIZE" in environment:
        local = int(environment["LOCAL_WORLD_SIZE"])
        return local, int(environment["WORLD_SIZE"]) // local
    # Inside of salloc or sbatch, but not started by srun, this is one process of its own.
    if environment.get("SLURM_STEP_ID", "").isdigit() and "SLURM_NTASKS" in environment:
        nodes = int(environment.get("SLURM_NNODES", "1"))
        return int(environment["SLURM_NTASKS"]) // nodes, nodes
    return 1, 1


def _leave_ranks() -> None:
    """Let gloo's threads finish before the interpreter goes: one that comes late aborts it."""
    gc.collect()  # a wrapped model in a cycle would keep the group, and its threads, alive
    if dist.is_initialized():
        dist.destroy_process_group()


def _parse(device: str) -> tuple[str, int | None]:
    if device == "auto":
        return ("cuda" if torch.cuda.is_available() else "cpu"), None
    kind, _, number = device.partition(":")
    if kind not in ("cpu", "cuda", "mps") or (number and not number.isdigit()):
        raise ValueError(f"device: expected auto, cpu, cuda, cuda:N or mps, got {device!r}")
    there = {
        "cpu": 1,
        "cuda": torch.cuda.device_count(),
        "mps": int(torch.backends.mps.is_available()),
    }[kind]
    if int(number or 0) >= there:
        raise ValueError(f"device: this machine has no {device}; use auto or cpu")
    return kind, int(number) if number else None


def _choose_precision(precision: str, kind: str) -> str:
    if precision not in get_args(Precision):
        raise ValueError(
            f"precision: expected one of {', '.join(get_args(Precision))}; got {precision!r}"
        )
    if precision == "auto":
        if kind != "cuda":
            return "32-true"
        return "bf16-mixed" if torch.cuda.is_bf16_supported() else "16-mixed"
    if precision == "16-mixed" and kind != "cuda":
        raise ValueError("precision: 16-mixed needs a CUDA device; use 32-true or auto")
    return precision
