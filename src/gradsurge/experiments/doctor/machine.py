"""Python, processor, torch and its devices."""

import os
import platform
import sys
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from types import ModuleType


class Machine(NamedTuple):
    """What computes.

    Attributes:
        python: version of Python.
        executable: the Python that runs.
        system: operating system and processor.
        cores: how many of them this process may use.
        torch: version of torch, None if it cannot be imported.
        threads: how many torch computes with; 0 without torch.
        devices: name for `--device` -> what it is.
        notes: what is worth knowing of devices and threads.
        problems: what keeps gradsurge from working.
    """

    python: str
    executable: str
    system: str
    cores: int
    torch: str | None
    threads: int
    devices: dict[str, str]
    notes: list[str]
    problems: list[str]


def look_at_machine() -> Machine:
    """Import torch, which takes a second or two, and ask it."""
    facts = (
        platform.python_version(),
        sys.executable,
        f"{platform.system()} {platform.machine()}",
        usable_cores(),
    )
    try:
        import torch
    except (ImportError, OSError) as error:  # OSError: a library of CUDA that is not there
        reason = " ".join(str(error).split())
        return Machine(*facts, None, 0, {}, [], [f"torch cannot be imported: {reason}"])
    threads = torch.get_num_threads()
    notes = [*_about_cuda(torch), *_about_threads(threads, usable_cores())]
    return Machine(*facts, torch.__version__, threads, _devices(torch), notes, [])


def usable_cores() -> int:
    """Return how many cores this process may use, which in a container are not all."""
    if hasattr(os, "sched_getaffinity"):  # Linux alone
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _devices(torch: "ModuleType") -> dict[str, str]:
    found = {"cpu": platform.processor() or platform.machine()}
    for index in range(torch.cuda.device_count()):
        facts = torch.cuda.get_device_properties(index)
        found[f"cuda:{index}"] = f"{facts.name}, {facts.total_memory / 2**30:.0f} GB"
    if torch.backends.mps.is_available():
        found["mps"] = "the GPU of this Mac"
    return found


def _about_cuda(torch: "ModuleType") -> list[str]:
    built_for = torch.version.cuda or getattr(torch.version, "hip", None)
    if torch.cuda.is_available():
        return []
    if built_for is None:
        return [f"torch {torch.__version__} is built without CUDA: no NVIDIA GPU can be used"]
    return [f"torch is built for CUDA {built_for} but finds no GPU; nvidia-smi tells about drivers"]


def _about_threads(threads: int, cores: int) -> list[str]:
    """Warn of more threads than cores, which wait for each other.

    >>> _about_threads(64, 2)
    ['torch computes with 64 threads on 2 cores, which is slow: set OMP_NUM_THREADS=2']
    """
    if threads <= cores:
        return []
    slow = f"torch computes with {threads} threads on {cores} cores, which is slow"
    return [f"{slow}: set OMP_NUM_THREADS={cores}"]
