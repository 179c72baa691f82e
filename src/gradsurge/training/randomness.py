"""Same seed, same bits.

Random numbers of torch (dropout and the like) follow from seed, step and rank: there is no state to
keep, and a run that goes on after step 37 draws what the unbroken one drew. Models and losses must
draw from torch alone. Batches follow from their number (`TrainJob.batches`).

Deterministic algorithms are asked for on every device. On the CPU no cost beyond the noise of
measuring (about 10 %) was seen. On a GPU convolutions become slower, and the few operations that
have no deterministic form (the gradient of trilinear upsampling is one) run as they are and may
differ in the last bits; `deterministic=False` lets cuDNN choose its fastest instead. The same bits
need the same machine, versions, number of threads and number of ranks.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from gradsurge.training.settings import TrainSettings


def seed_step(seed: int, step: int, rank: int) -> None:
    """Set torch's random numbers to those of a step on a rank.

    >>> seed_step(0, 7, 0)
    >>> first = torch.rand(2)
    >>> seed_step(0, 7, 1)
    >>> bool((torch.rand(2) == first).any())
    False
    >>> seed_step(0, 7, 0)
    >>> bool((torch.rand(2) == first).all())
    True
    """
    digest = hashlib.blake2b(f"{seed} {step} {rank}".encode(), digest_size=8).digest()
    torch.manual_seed(int.from_bytes(digest, "little"))


@contextmanager
def reproducible(settings: TrainSettings, device: torch.device) -> Iterator[None]:
    """Use deterministic algorithms, if asked for, and leave all as it was before."""
    algorithms = torch.are_deterministic_algorithms_enabled()
    only_warn = torch.is_deterministic_algorithms_warn_only_enabled()
    filled = torch.utils.deterministic.fill_uninitialized_memory  # type: ignore[attr-defined]
    benchmark = torch.backends.cudnn.benchmark
    devices = [device] if device.type == "cuda" else []
    try:
        if settings.deterministic:
            torch.use_deterministic_algorithms(True, warn_only=True)
            # A help in finding reads of unwritten memory; it costs a pass over every new tensor.
            torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
        torch.backends.cudnn.benchmark = not settings.deterministic
        with torch.random.fork_rng(devices):
            yield
    finally:
        torch.use_deterministic_algorithms(algorithms, warn_only=only_warn)
        torch.utils.deterministic.fill_uninitialized_memory = filled  # type: ignore[attr-defined]
        torch.backends.cudnn.benchmark = benchmark
