"""A volume by sliding windows: ours against MONAI's, time in turns, memory in fresh processes."""

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn

from gradsurge.experiments.runs.presets import PRESETS
from gradsurge.models import make_model, plan_model
from gradsurge.training.inference import iterate_slabs, sliding_window_logits

CLASSES = 2
Infer = Callable[[nn.Module, Tensor, int], Tensor | None]


def ours(model: nn.Module, image: Tensor, window: int, batch: int = 1) -> Tensor:
    return sliding_window_logits(model, image, (window,) * 3, batch=batch)


def ours_in_slabs(model: nn.Module, image: Tensor, window: int) -> None:
    """Do what `gradsurge predict` does: take slabs, and keep none here."""
    for _rows, _logits in iterate_slabs(model, image, (window,) * 3):
        pass


def monai(model: nn.Module, image: Tensor, window: int, batch: int = 1) -> Tensor:
    from monai.inferers import sliding_window_inference

    with torch.inference_mode():
        found = sliding_window_inference(
            image[None], (window,) * 3, batch, model, overlap=0.5, mode="gaussian"
        )
    assert isinstance(found, Tensor)
    return found[0]


CONTENDERS: dict[str, Infer] = {
    "ours: sliding_window_logits": ours,
    "ours: sliding_window_logits, batch=4": partial(ours, batch=4),
    "ours: iterate_slabs": ours_in_slabs,
    "MONAI, sw_batch_size=1": monai,
    "MONAI, sw_batch_size=4": partial(monai, batch=4),
}


def network(window: int) -> nn.Module:
    """Return the network of the preset "quick", untrained."""
    torch.manual_seed(0)
    options = PRESETS["quick"].model_options[3]
    return make_model(plan_model("residual-unet", 1, CLASSES, (window,) * 3, **options)).eval()


def volume(size: int) -> Tensor:
    return torch.randn(1, size, size, size, generator=torch.Generator().manual_seed(0))


def seconds_in_turns(size: int, window: int, rounds: int) -> dict[str, list[float]]:
    """Return seconds of every contender, round by round."""
    model, image = network(window), volume(size)
    times: dict[str, list[float]] = {name: [] for name in CONTENDERS}
    for infer in CONTENDERS.values():  # imports, kernels, pools
        infer(model, volume(window), window)
    for _ in range(rounds):
        for name, infer in CONTENDERS.items():
            start = time.perf_counter()
            infer(model, image, window)
            times[name].append(time.perf_counter() - start)
    return times


def largest_difference(size: int, window: int) -> float:
    """Return how far our logits are from MONAI's: 0 but for rounding where windows lie alike."""
    model, image = network(window), volume(size)
    return float((ours(model, image, window) - monai(model, image, window)).abs().max())


def growth_mb(name: str, size: int, window: int) -> float:
    """Return what a contender adds to the high-water mark of this process, beside the image."""
    model, image, infer = network(window), volume(size), CONTENDERS[name]
    infer(model, volume(window), window)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # What came before went higher than what is held now: fill up to that mark first.
    held = torch.ones(max(0, peak - _resident_kb()) * 1024 // 4)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    infer(model, image, window)
    del held
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def growth_in_fresh_process(name: str, size: int, window: int) -> float:
    command = [sys.executable, __file__, name, str(size), str(window)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def _resident_kb() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 1024


if __name__ == "__main__":
    print(growth_mb(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
