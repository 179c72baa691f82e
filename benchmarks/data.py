"""Speed of the data side: augmented patches, single patches, preparation; against nnU-Net v2.

Patches: nnU-Net preprocesses cases of Hippocampus and ISLES, the same arrays are written into a
store of ours, and both draw augmented patches of the same size and batch from them: in one process
each (one thread), then with two workers each. Times are taken in turns; medians are shown with the
lowest and the highest, of the clock and of the processors, and of the ratios of each pair of turns.

Reading: one 80 x 96 x 80 patch of a 512 x 512 x 300 case, against loading its NIfTI.

Preparation: ISLES cases, one process each: ``prepare`` to the spacing that nnU-Net chose, against
nnU-Net's fingerprint, plan and preprocessing.

``python benchmarks/data.py --data ../shared/data [--nnunet-python PATH] [--cases 20] [--rounds 7]
[--batches 30] [--json F]``
"""

import argparse
import json
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import nibabel
import numpy as np
from _cpu import cpu_seconds
from _nnunet_orders import Order, nnunet_side
from _provenance import provenance, provenance_line
from _volumes import Volumes, store_of_nnunets
from rich.console import Console
from rich.table import Table

from gradsurge.data.datasets import NnUnet
from gradsurge.data.patches import PatchSettings, PatchSource, stream_batches
from gradsurge.data.prepared import PreparedCase
from gradsurge.data.store import Store
from gradsurge.experiments.preparing import prepare

SETS = {"Hippocampus": "Dataset004_Hippocampus", "ISLES": "Dataset022_ISLES"}
PATCHES = {"Hippocampus": (40, 56, 40), "ISLES": (80, 96, 80)}
BATCHES = {"Hippocampus": 4, "ISLES": 1}  # small patches: more of them, for as long a turn
IDS = {"Hippocampus": 904, "ISLES": 922}
BATCH = 2
WARM_UP = 10  # more than either side makes ahead: what is timed is made while the clock runs
CASE, PATCH = (512, 512, 300), (80, 96, 80)


def subset(data: Path, work: Path, name: str, cases: int) -> Path:
    """Copy the first cases of a data set into a raw folder of their own."""
    source = data / SETS[name]
    out = work / "raw" / f"Dataset{IDS[name]}_{name}"
    for folder in ("imagesTr", "labelsTr"):
        (out / folder).mkdir(parents=True)
    labels = sorted((source / "labelsTr").glob("*.nii.gz"))[:cases]
    for label in labels:
        shutil.copy(label, out / "labelsTr")
        for image in (source / "imagesTr").glob(f"{label.name.removesuffix('.nii.gz')}_*"):
            shutil.copy(image, out / "imagesTr")
    facts = json.loads((source / "dataset.json").read_text())
    (out / "dataset.json").write_text(json.dumps({**facts, "numTraining": len(labels)}))
    return out


class Speed(NamedTuple):
    """Of one turn."""

    patches_a_second: float
    cpu_ms_a_patch: float


def our_speed(source: PatchSource, workers: int, batches: int, seed: int) -> Speed:
    stream = stream_batches(source, seed, workers=workers)
    for _ in range(WARM_UP):
        next(stream)
    start, worked = time.perf_counter(), cpu_seconds()
    for _ in range(batches):
        next(stream)
    seconds, worked = time.perf_counter() - start, cpu_seconds() - worked
    stream.close()  # type: ignore[attr-defined] # a generator
    return Speed(BATCH * batches / seconds, 1e3 * worked / (BATCH * batches))


def their_speed(order: Order, folder: Path, name: str, workers: int, batches: int) -> Speed:
    found = order(
        "load",
        folder=str(folder),
        patch=PATCHES[name],
        batch=BATCH,
        workers=workers,
        warm_up=WARM_UP,
        batches=batches,
    )
    assert found["shape"][0] == BATCH
    assert tuple(found["shape"][2:]) == PATCHES[name]
    patches = BATCH * batches
    return Speed(patches / float(found["seconds"]), 1e3 * float(found["cpu_seconds"]) / patches)


def patch_table(
    stores: Mapping[str, tuple[Store, Path | None]], order: Order | None, args: Any, out: Console
) -> dict[str, Any]:
    """Measure patches in turns: ours, nnU-Net's, ours, ..."""
    table = Table(
        "augmented patches", "workers", "", "ours", "nnU-Net", "ours better by, each turn"
    )
    result: dict[str, Any] = {}
    for name, (store, folder) in stores.items():
        settings = PatchSettings(PATCHES[name], batch=BATCH, draw="independent")
        source = PatchSource(store, store.cases, settings, "nnunet")
        batches = args.batches * BATCHES[name]
        for workers in (0, 2):
            ours, theirs = [], []
            for turn in range(args.rounds):
                ours.append(our_speed(source, workers, batches, turn))
                if order is not None and folder is not None:
                    theirs.append(their_speed(order, folder, name, workers, batches))
            title = f"{name} {'x'.join(map(str, PATCHES[name]))}, batch {BATCH}"
            _add_rows(table, title, workers, ours, theirs)
            result[f"{name}, {workers} workers"] = {"ours": ours, "nnunet": theirs}
    out.print(table)
    return result


def _add_rows(
    table: Table, title: str, workers: int, ours: Sequence[Speed], theirs: Sequence[Speed]
) -> None:
    pairs = list(zip(ours, theirs, strict=False))
    table.add_row(
        title,
        str(workers),
        "patches/s",
        _spread([s.patches_a_second for s in ours]),
        _spread([s.patches_a_second for s in theirs]),
        _spread([a.patches_a_second / b.patches_a_second for a, b in pairs]),
    )
    table.add_row(
        "",
        "",
        "CPU ms/patch",
        _spread([s.cpu_ms_a_patch for s in ours]),
        _spread([s.cpu_ms_a_patch for s in theirs]),
        _spread([b.cpu_ms_a_patch / a.cpu_ms_a_patch for a, b in pairs]),
        end_section=True,
    )


def _spread(values: Sequence[float]) -> str:
    if not values:
        return "–"
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def reading_table(work: Path, rounds: int, out: Console) -> dict[str, float]:
    """Compare one patch from a store with the NIfTI of the same case."""
    rng = np.random.default_rng(0)
    image = np.empty(CASE, np.int16)
    ground = 800 * np.hypot(*np.ogrid[-1 : 1 : CASE[0] * 1j, -1 : 1 : CASE[1] * 1j])[..., None]
    for at in range(0, CASE[2], 50):
        noise = 20 * rng.standard_normal((*CASE[:2], 50), dtype=np.float32)
        image[..., at : at + 50] = noise - ground
    file = work / "large.nii.gz"
    nibabel.save(nibabel.Nifti1Image(image, np.eye(4)), file)
    scaled = ((image + np.float32(400)) / np.float32(250))[None].astype(np.float32)
    case = PreparedCase("large", scaled, (image > 0).astype(np.uint8), (1.0, 1.0, 1.0))
    dataset = Volumes(1, {0: "background", 1: "foreground"}, {"large": lambda: case})
    prepare(dataset, work, work / "large")
    stored = Store.open(work / "large").case("large")
    ours, nifti = [], []
    for turn in range(rounds):
        starts = [int(rng.integers(n - p + 1)) for n, p in zip(CASE, PATCH, strict=True)]
        box = [(a, a + p) for a, p in zip(starts, PATCH, strict=True)]
        start = time.perf_counter()
        stored.read_image(box), stored.read_label(box)
        ours.append(1e3 * (time.perf_counter() - start))
        if turn < 3:
            start = time.perf_counter()
            np.asarray(nibabel.load(file).dataobj)[tuple(slice(a, b) for a, b in box)]
            nifti.append(1e3 * (time.perf_counter() - start))
    found = {"store_ms": statistics.median(ours), "nifti_ms": statistics.median(nifti)}
    out.print(
        f"one 80x96x80 patch of a 512x512x300 case: image and label from the store "
        f"{_spread(ours)} ms, the image's .nii.gz {_spread(nifti)} ms "
        f"(x {found['nifti_ms'] / found['store_ms']:.0f})"
    )
    return found


def preparing_line(raw: Path, theirs: dict[str, Any] | None, work: Path, out: Console) -> Any:
    """Compare cases a second, one process each, imports not counted."""
    cases = len(list((raw / "labelsTr").iterdir()))
    spacing = None if theirs is None else theirs["spacing"][::-1]  # theirs counts slices first
    start = time.perf_counter()
    done = prepare(NnUnet(spacing=spacing, crop="nonzero"), raw, work / "prepared")
    ours = cases / (time.perf_counter() - start)
    if done.failures:
        sys.exit(f"could not prepare: {done.failures}")
    line = f"prepare, {cases} ISLES cases, one process: ours {ours:.2f} cases/s"
    if theirs is not None:
        seconds = theirs["seconds"]
        alone, whole = cases / seconds["preprocess"], cases / sum(seconds.values())
        line += f"; nnU-Net {whole:.2f} cases/s in all, {alone:.2f} its preprocessing alone"
    out.print(line)
    return {"ours": ours, "nnunet_seconds": theirs and theirs["seconds"], "cases": cases}


def own_store(raw: Path, out: Path) -> Store:
    prepare(NnUnet(crop="nonzero"), raw, out)
    return Store.open(out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder of the data sets")
    parser.add_argument("--nnunet-python", type=Path, help="interpreter that has nnunetv2")
    parser.add_argument("--cases", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--batches", type=int, default=30)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    if args.data is None:
        print("skipped: real data are needed; give their folder with --data")
        return
    out = Console(width=150)
    work = Path(tempfile.mkdtemp(prefix="gradsurge-benchmark-"))
    try:
        found = {**provenance(), **_run(args, work, out)}
    finally:
        shutil.rmtree(work)
    out.print(provenance_line())
    if args.json is not None:
        args.json.write_text(json.dumps(found, indent=1) + "\n")


def _run(args: argparse.Namespace, work: Path, out: Console) -> dict[str, Any]:
    raw = {name: subset(args.data, work, name, args.cases) for name in SETS}
    if args.nnunet_python is None:
        out.print("nnU-Net: skipped, no --nnunet-python was given")
        stores = {name: (own_store(raw[name], work / name), None) for name in SETS}
        return {
            "prepare": preparing_line(raw["ISLES"], None, work, out),
            "patches": patch_table(stores, None, args, out),
            "reading": reading_table(work, 25, out),
        }
    with nnunet_side(args.nnunet_python, work) as order:
        versions = order("versions")
        out.print("nnU-Net's side: " + ", ".join(f"{n} {v}" for n, v in versions.items()))
        made = {name: order("preprocess", dataset=IDS[name]) for name in SETS}
        folders = {name: Path(made[name]["folder"]) for name in SETS}
        both = {
            name: (store_of_nnunets(raw[name], folders[name], work / name), folders[name])
            for name in SETS
        }
        return {
            "nnunet_versions": versions,
            "prepare": preparing_line(raw["ISLES"], made["ISLES"], work, out),
            "patches": patch_table(both, order, args, out),
            "reading": reading_table(work, 25, out),
        }


if __name__ == "__main__":
    main()
