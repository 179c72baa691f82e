"""Workers and clusters change nothing, to the last bit; memory does not grow with the folder."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gradsurge.calibration.sketch import CalibrationSketch
from gradsurge.experiments.evaluation.files import as_json
from tests.experiments.evaluation import folders
from tests.experiments.evaluation.cluster import dask_cluster

# Above 2^18 voxels the sketch itself works with several threads.
LARGE = (64, 64, 68)


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Cases of different sizes, so that later ones finish first; one of them faulty.

    Yields a relative path, which a cluster's workers, started elsewhere, could not follow.
    """
    root = tmp_path_factory.mktemp("parallel")
    for seed in range(6):
        y = folders.blobs(seed, 3, LARGE if seed == 0 else folders.SHAPE)
        p = folders.softmax(folders.logits(y, 3, seed)).astype(np.float32)
        p[0, 0, 0, 0] = np.nan if seed == 4 else p[0, 0, 0, 0]
        folders.nifti(root / "labels" / f"case{seed}.nii", y)
        folders.nifti(root / "model" / f"case{seed}.nii", p)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root.parent)
        yield Path(root.name)


def results(root, sketches, **workers):
    """Return metrics.json without its date, the rows, and every sketch that was written."""
    evaluation = folders.measure(root, sketches=sketches, **workers)
    metrics = as_json(evaluation)
    del metrics["provenance"]
    written = {
        str(file.relative_to(sketches)): CalibrationSketch.load(file)
        for file in sorted(sketches.rglob("*.npz"))
    }
    assert len(written) == 2 * (5 + 1)
    rows = [
        (row.case, row.region, row.label, row.scores) for row in evaluation.models["model"].rows
    ]
    return json.dumps(metrics, indent=2), rows, written


@pytest.fixture(scope="module")
def alone(root, tmp_path_factory):
    return results(root, tmp_path_factory.mktemp("alone"), jobs=1)


def test_two_processes(root, alone, tmp_path):  # about 4 s: each loads torch
    assert results(root, tmp_path, jobs=2) == alone


def test_a_dask_cluster_in_another_directory(root, alone, tmp_path):  # about 5 s: as above
    with dask_cluster(tmp_path, workers=1) as address:
        assert results(root, tmp_path / "sketches", dask=address) == alone


def test_threads_inside_a_case_change_nothing(root, alone, tmp_path):
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1 if before > 1 else 3)
    try:
        assert results(root, tmp_path) == alone
    finally:
        torch.set_num_threads(before)


MEASURE = """
import resource, sys
from pathlib import Path
from gradsurge.experiments.evaluation.run import evaluate
from gradsurge.experiments.evaluation.settings import Settings

for folder in map(Path, sys.argv[1:]):
    found = evaluate({"model": folder / "model"}, folder / "labels", Settings())
    assert len(found.models["model"].cases) == int(folder.name)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


def test_memory_is_bounded_by_one_case(tmp_path):  # about 5 s: a process, 27 cases of 96³
    """Peak memory of 24 cases is that of 3, within the size of one."""
    y = np.zeros((96, 96, 96), np.uint8)
    y[40:60, 30:50, 20:40] = 1
    p = np.where(y, 0.8, 1e-6).astype(np.float32)
    for number in (3, 24):
        for part, array in (("labels", y), ("model", p)):
            folder = tmp_path / str(number) / part
            folders.nifti(folder / "case0.nii", array)
            for n in range(1, number):
                os.link(folder / "case0.nii", folder / f"case{n}.nii")
    result = subprocess.run(
        [sys.executable, "-c", MEASURE, tmp_path / "3", tmp_path / "24"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    few, many = map(int, result.stdout.split())
    assert many - few < p.nbytes + y.nbytes
