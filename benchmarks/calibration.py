"""Speed, memory and exactness of the calibration sketch, against torchmetrics, MONAI and net:cal.

One volume of 256³ voxels, ours computing ECE, MCE, Brier and NLL where the others compute ECE
alone; 10⁹ voxels streamed; a folder of cases. All times of a table are taken in one process, in
turns; medians are shown. Memory is the growth of the process's high-water mark, each contender in a
fresh process. net:cal takes part where it is installed (``pip install --no-deps netcal`` suffices).

``python benchmarks/calibration.py [--size 256] [--rounds 7] [--stream 1e9] [--cases 200] [--json]``
"""

import argparse
import importlib
import importlib.util
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import nibabel
import numpy as np
import torch
from _provenance import provenance, provenance_line
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from gradsurge import CalibrationSketch
from gradsurge.experiments.evaluation.run import evaluate
from gradsurge.experiments.evaluation.settings import Settings

Volume = tuple[NDArray[np.float32], NDArray[np.uint8]]
BINS = 15


# Radius of a ball in a cube of side 2, and how steeply its logit falls off.
KINDS = {"lesion": (0.15, 40.0), "organ": (0.5, 25.0), "even": (0.0, 0.0)}


def volume(size: int, seed: int = 0, kind: str = "lesion") -> Volume:
    """Return probabilities of a ball with a soft, noisy boundary, and labels a bit off them.

    "even" is no image: p is spread evenly over [0, 1], the worst case for a sketch.
    """
    rng = np.random.default_rng(seed)
    if kind == "even":
        p = rng.random((size,) * 3, dtype=np.float32)
        return p, (rng.random(p.shape, dtype=np.float32) < p).astype(np.uint8)
    centre, steepness = KINDS[kind]
    axis = np.linspace(-1, 1, size, dtype=np.float32)
    radius = np.sqrt(axis[:, None, None] ** 2 + axis[None, :, None] ** 2 + axis[None, None] ** 2)
    logit = steepness * (centre - radius)
    logit += rng.standard_normal(logit.shape, dtype=np.float32)
    truth = rng.random(logit.shape, dtype=np.float32) < 1 / (1 + np.exp(-0.8 * logit))
    p = torch.from_numpy(logit).sigmoid().numpy()
    return p, truth.astype(np.uint8)


def ours(p: NDArray[np.float32], y: NDArray[np.uint8]) -> float:
    sketch = CalibrationSketch().update_probabilities(p, y)
    sketch.mce(BINS), sketch.brier(), sketch.nll()
    return sketch.ece(BINS)


def torchmetrics_ece(p: NDArray[np.float32], y: NDArray[np.uint8]) -> float:
    from torchmetrics.classification import BinaryCalibrationError

    metric = BinaryCalibrationError(n_bins=BINS, norm="l1")
    metric.update(torch.from_numpy(p).flatten(), torch.from_numpy(y).flatten())
    return float(metric.compute())


def monai_ece(p: NDArray[np.float32], y: NDArray[np.uint8]) -> float:
    from monai.metrics import CalibrationErrorMetric

    metric = CalibrationErrorMetric(num_bins=BINS, include_background=True)
    metric(torch.from_numpy(p)[None, None], torch.from_numpy(y)[None, None])
    return float(metric.aggregate())


def netcal_ece(p: NDArray[np.float32], y: NDArray[np.uint8]) -> float:
    metric = importlib.import_module("netcal.metrics.confidence").ECE(BINS)
    return float(metric.measure(p.ravel(), y.ravel()))


def exact(p: NDArray[np.float32], y: NDArray[np.uint8]) -> float:
    """Return the ECE by the definition, in float64."""
    wide, truth = p.ravel().astype(np.float64), y.ravel()
    bins = np.maximum(np.ceil(wide * BINS).astype(int) - 1, 0)
    gaps = np.bincount(bins, wide, BINS) - np.bincount(bins, truth, BINS)
    return float(np.abs(gaps).sum() / wide.size)


CONTENDERS: dict[str, Callable[[NDArray[np.float32], NDArray[np.uint8]], float]] = {
    "ours: ECE, MCE, Brier, NLL and all else": ours,
    "torchmetrics BinaryCalibrationError: ECE": torchmetrics_ece,
    "MONAI CalibrationErrorMetric: ECE": monai_ece,
}
if importlib.util.find_spec("netcal"):
    CONTENDERS["net:cal ECE: ECE"] = netcal_ece


def median_ms(p: NDArray[np.float32], y: NDArray[np.uint8], rounds: int) -> dict[str, float]:
    times: dict[str, list[float]] = {name: [] for name in CONTENDERS}
    for turn in range(rounds + 1):
        for name, run in CONTENDERS.items():
            start = time.perf_counter()
            run(p, y)
            if turn:  # the first warms up
                times[name].append(1e3 * (time.perf_counter() - start))
    return {name: statistics.median(t) for name, t in times.items()}


def growth_mb(name: str, size: int) -> float:
    """Return what a contender adds to the high-water mark of this process."""
    small = volume(64)
    CONTENDERS[name](*small)  # imports and pools
    p, y = volume(size)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # The generation above went higher than what is held now: fill up to that mark first.
    held = np.ones(max(0, before - _resident_kb()) * 1024 // 8)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    CONTENDERS[name](p, y)
    del held
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


def _resident_kb() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") // 1024


def volume_tables(size: int, rounds: int, console: Console) -> dict[str, object]:
    memory = {name: _in_fresh_process(name, size) for name in CONTENDERS}
    found: dict[str, object] = {"peak_mb": memory}
    for kind in KINDS:
        p, y = volume(size, kind=kind)
        truth, values = exact(p, y), {name: run(p, y) for name, run in CONTENDERS.items()}
        times = median_ms(p, y, rounds)
        mine = next(iter(times.values()))
        table = Table(f"{size}³ voxels, {kind}, {y.mean():.2%} foreground", "ms", "/ ours")
        for heading in ("peak MB", "/ ours", "ECE", "off by"):
            table.add_column(heading, justify="right")
        for name, ms in times.items():
            peak = [f"{memory[name]:.0f}", f"{memory[name] / next(iter(memory.values())):.1f}"]
            off = f"{abs(values[name] - truth):.1e}"
            table.add_row(name, f"{ms:.0f}", f"{ms / mine:.1f}", *peak, f"{values[name]:.4e}", off)
        table.add_row("exact (float64)", "", "", "", "", f"{truth:.4e}", "")
        console.print(table)
        found[kind] = {"ms": times, "ece": values, "exact_ece": truth}
    return found


def _in_fresh_process(name: str, size: int) -> float:
    command = [sys.executable, __file__, "--size", str(size), "--growth", name]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def stream_table(voxels: int, console: Console) -> dict[str, float]:
    """Stream many voxels, and compare with reading the same memory and doing nothing with it."""
    p, y = volume(256)
    rounds = max(1, voxels // p.size)
    sketch = CalibrationSketch().update_probabilities(p, y)
    early, start = _resident_kb(), time.perf_counter()
    for _ in range(rounds):
        sketch.update_probabilities(p, y)
    ours_ns = 1e9 * (time.perf_counter() - start) / (rounds * p.size)
    late = _resident_kb()
    a, b = torch.from_numpy(p).flatten(), torch.from_numpy(y).flatten().view(torch.float32)
    start = time.perf_counter()
    for _ in range(10):
        a.sum(), b.sum()
    floor_ns = 1e9 * (time.perf_counter() - start) / (10 * p.size)
    console.print(
        f"streamed {rounds * p.size:.2e} voxels: {ours_ns:.2f} ns a voxel; reading them alone "
        f"{floor_ns:.2f} ns (x {ours_ns / floor_ns:.1f}); resident memory grew by "
        f"{(late - early) / 1024:.1f} MB"
    )
    return {"ns": ours_ns, "floor_ns": floor_ns, "growth_mb": (late - early) / 1024}


def folder_table(cases: int, console: Console) -> dict[str, float]:
    """Evaluate a folder of cases of 128³ with one and with two workers."""
    found = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write_cases(folder, cases)
        for jobs in (1, 2):
            start = time.perf_counter()
            evaluate(
                {"model": folder / "predictions"},
                folder / "labels",
                Settings(),
                sketches=folder / f"sketches{jobs}",
                jobs=jobs,
            )
            found[f"cases_per_second_{jobs}"] = cases / (time.perf_counter() - start)
    console.print(
        f"folder of {cases} cases of 128³ (NIfTI, gzip): "
        + ", ".join(f"{rate:.1f} cases/s ({key[-1]} worker)" for key, rate in found.items())
    )
    return found


def _write_cases(folder: Path, cases: int, distinct: int = 4) -> None:
    """Write a few cases and link the rest to them: compressing takes longer than measuring."""
    for kind in ("predictions", "labels"):
        (folder / kind).mkdir()
    for i in range(cases):
        files = [folder / kind / f"case_{i:03}.nii.gz" for kind in ("predictions", "labels")]
        for file, array in zip(files, volume(128, i) if i < distinct else (), strict=False):
            nibabel.save(nibabel.Nifti1Image(array, np.eye(4)), file)
        if i >= distinct:
            for file in files:
                file.hardlink_to(file.with_name(f"case_{i % distinct:03}.nii.gz"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--stream", type=float, default=1e9)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--growth", help=argparse.SUPPRESS)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    if args.growth:
        print(growth_mb(args.growth, args.size))
        return
    console = Console(width=120)
    found: dict[str, object] = {
        **provenance(),
        "volumes": volume_tables(args.size, args.rounds, console),
        "stream": stream_table(int(args.stream), console),
        "folder": folder_table(args.cases, console),
    }
    console.print(provenance_line())
    if args.json is not None:
        args.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
