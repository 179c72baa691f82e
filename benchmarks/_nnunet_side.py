"""nnU-Net's part of benchmarks/data.py and training.py, run by an interpreter that has nnunetv2.

Reads one JSON order a line from standard input and answers each with one line of JSON. Imports
nothing of gradsurge.
"""

# mypy: disable-error-code="import-not-found"
# nnunetv2 is in the other environment only.

import json
import os
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from _cpu import cpu_seconds
from _training_nnunet_side import train_epoch, train_start, train_stop


def preprocess(dataset: int) -> dict[str, Any]:
    """Do what nnUNetv2_plan_and_preprocess does, with one process, and time each part."""
    from nnunetv2.experiment_planning import plan_and_preprocess_api as api
    from nnunetv2.paths import nnUNet_preprocessed
    from nnunetv2.utilities.dataset_name_id_conversion import convert_id_to_dataset_name

    seconds = {}
    start = time.perf_counter()
    api.extract_fingerprints([dataset], num_processes=1, verbose=False, show_progress_bar=False)
    seconds["fingerprint"] = time.perf_counter() - start
    start = time.perf_counter()
    plans = api.plan_experiments([dataset])
    seconds["plan"] = time.perf_counter() - start
    start = time.perf_counter()
    api.preprocess([dataset], plans, ("3d_fullres",), (1,), False, False)
    seconds["preprocess"] = time.perf_counter() - start
    base = Path(nnUNet_preprocessed) / convert_id_to_dataset_name(dataset)
    plan = json.loads((base / f"{plans}.json").read_text())
    found = plan["configurations"]["3d_fullres"]
    return {
        "seconds": seconds,
        "folder": str(base / found["data_identifier"]),
        "spacing": found["spacing"],
    }


def load(
    folder: str, patch: list[int], batch: int, workers: int, warm_up: int, batches: int
) -> dict[str, Any]:
    """Take batches from nnU-Net's own loader, set up as its trainer does, and time them."""
    import torch
    from batchgenerators.dataloading.nondet_multi_threaded_augmenter import (
        NonDetMultiThreadedAugmenter,
    )
    from batchgenerators.dataloading.single_threaded_augmenter import SingleThreadedAugmenter

    # One core for one process. Left alone, torch's second thread only costs nnU-Net time here.
    torch.set_num_threads(1)
    loader = _loader(folder, tuple(patch), batch)
    if workers == 0:
        stream = SingleThreadedAugmenter(loader, None)
    else:
        stream = NonDetMultiThreadedAugmenter(
            loader, None, workers, num_cached=max(6, workers // 2), wait_time=0.002
        )
    for _ in range(warm_up):
        next(stream)
    start, worked = time.perf_counter(), cpu_seconds()
    for _ in range(batches):
        found = next(stream)
    seconds, worked = time.perf_counter() - start, cpu_seconds() - worked
    if workers:
        stream._finish()
    shape = list(found["data"].shape)
    return {"seconds": seconds, "cpu_seconds": worked, "shape": shape}


def _settle_blur(transforms: Any, patch: tuple[int, ...]) -> None:
    """Let the blur make the choice that it times on its first patches.

    A training pays for that once; it must not be paid for in every turn of the benchmark. Workers
    inherit the choice.
    """
    import torch
    from batchgeneratorsv2.transforms.noise.gaussian_blur import GaussianBlurTransform

    inner = [getattr(t, "transform", t) for t in transforms.transforms]
    (blur,) = [t for t in inner if isinstance(t, GaussianBlurTransform)]
    for _ in range(100):
        blur(image=torch.randn(1, *patch))


@cache
def _loader(folder: str, patch: tuple[int, ...], batch: int) -> Any:
    from nnunetv2.training.data_augmentation.compute_initial_patch_size import get_patch_size
    from nnunetv2.training.dataloading.data_loader import nnUNetDataLoader
    from nnunetv2.training.dataloading.nnunet_dataset import nnUNetDatasetBlosc2
    from nnunetv2.training.nnUNetTrainer.nnUNetTrainer import nnUNetTrainer
    from nnunetv2.utilities.plans_handling.plans_handler import PlansManager

    base = Path(folder).parent
    plans = PlansManager(str(base / "nnUNetPlans.json"))
    labels = plans.get_label_manager(json.loads((base / "dataset.json").read_text()))
    rotation = (-30 / 360 * 2 * 3.141592653589793, 30 / 360 * 2 * 3.141592653589793)
    transforms = nnUNetTrainer.get_training_transforms(
        patch, rotation, None, (0, 1, 2), do_dummy_2d_data_aug=False
    )
    _settle_blur(transforms, patch)
    initial = get_patch_size(patch, rotation, rotation, rotation, (0.85, 1.25))
    return nnUNetDataLoader(
        nnUNetDatasetBlosc2(folder),
        batch,
        initial,
        patch,
        labels,
        oversample_foreground_percent=0.33,
        transforms=transforms,
    )


def versions() -> dict[str, Any]:
    from importlib.metadata import version

    return {name: version(name) for name in ("nnunetv2", "batchgeneratorsv2", "blosc2", "torch")}


def main() -> None:
    # nnU-Net prints as it goes: the answers keep standard output to themselves.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    orders: dict[str, Callable[..., dict[str, Any]]] = {
        "preprocess": preprocess,
        "load": load,
        "versions": versions,
        "train_start": train_start,
        "train_epoch": train_epoch,
        "train_stop": train_stop,
    }
    for line in sys.stdin:
        order = json.loads(line)
        answers.write(json.dumps(orders[order.pop("do")](**order)) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
