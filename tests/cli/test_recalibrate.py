"""``gradsurge recalibrate`` typed as a user would, on files."""

import json
import subprocess
import sys
from pathlib import Path

import nibabel
import numpy as np
import pytest
from scipy.special import expit, logit

from gradsurge.calibration import CalibrationSketch

RNG = np.random.default_rng(0)
SHAPE = (24, 24, 12)
AFFINE = np.diag([1.0, 2.0, 3.0, 1.0])


def run(*arguments: str | Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "gradsurge", "recalibrate", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def overconfident() -> tuple[np.ndarray, np.ndarray]:
    """Probabilities whose logits are twice the true ones, and labels of the true ones."""
    z = RNG.normal(-1, 2, SHAPE)
    return expit(2 * z).astype(np.float32), RNG.random(SHAPE) < expit(z)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("recalibrate")
    (root / "predictions").mkdir()
    for name in ("validation", "test"):
        total = CalibrationSketch()
        for i in range(4):
            p, y = overconfident()
            total.update_probabilities(p, y)
            if name == "test":
                file = root / "predictions" / f"case {i}.nii.gz"
                nibabel.save(nibabel.Nifti1Image(p, AFFINE), file)
        total.save(root / f"{name}.npz")
    return root


def test_fit_then_apply_halves_the_logits(folder: Path) -> None:
    file, out = folder / "t.json", folder / "out"
    done = run("fit", "temperature", folder / "validation.npz", "--out", file)
    assert done.returncode == 0, done.stderr
    assert "temperature" in done.stdout
    assert run("apply", file, folder / "predictions", out, "-j", "2").returncode == 0
    for source in sorted((folder / "predictions").iterdir()):
        before, after = nibabel.load(source), nibabel.load(out / source.name)
        np.testing.assert_array_equal(before.affine, after.affine)
        z, half = (logit(x.get_fdata().clip(1e-6, 1 - 1e-6)) for x in (before, after))
        inner = np.abs(z) < 8
        ratio = z[inner] / half[inner]
        assert 1.9 < np.median(ratio) < 2.1


def test_compare_says_what_it_was_fitted_on(folder: Path) -> None:
    done = run(
        "compare",
        "--fit-on",
        folder / "validation.npz",
        "--score-on",
        folder / "test.npz",
        "--json",
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    nll = {row["method"]: row["nll"] for row in found["rows"]}
    assert set(nll) == {"none", "temperature", "platt", "bias", "isotonic"}
    assert nll["temperature"] < nll["none"]
    assert found["same_cases"] is False
    same = run("compare", "--fit-on", folder / "test.npz", "--score-on", folder / "test.npz")
    assert "same cases" in same.stdout


def test_a_saved_recalibration_joins_the_comparison(folder: Path) -> None:
    from torch import tensor

    from gradsurge.calibration.recalibration import Equilibrium

    Equilibrium.from_rates(tensor([[0.0, 1.0], [3.0, 0.0]])).save(folder / "equilibrium.json")
    done = run(
        "compare",
        "--fit-on",
        folder / "validation.npz",
        "--score-on",
        folder / "test.npz",
        "--with",
        folder / "equilibrium.json",
    )
    assert done.returncode == 0, done.stderr
    assert "equilibrium" in done.stdout


def test_a_bad_case_is_one_line_and_the_rest_goes_on(folder: Path, tmp_path: Path) -> None:
    inputs = tmp_path / "in"
    inputs.mkdir()
    p, _ = overconfident()
    nibabel.save(nibabel.Nifti1Image(p, AFFINE), inputs / "good.nii.gz")
    nibabel.save(nibabel.Nifti1Image(p * 3, AFFINE), inputs / "above one.nii.gz")
    (inputs / "cut off.nii.gz").write_bytes((inputs / "good.nii.gz").read_bytes()[:300])
    run("fit", "bias", folder / "validation.npz", "--out", tmp_path / "b.json")
    done = run("apply", tmp_path / "b.json", inputs, tmp_path / "out")
    assert done.returncode == 1
    assert "1 of 3 cases" in done.stdout
    assert len(done.stderr.strip().splitlines()) == 2
    assert [f.name for f in (tmp_path / "out").iterdir()] == ["good.nii.gz"]


def test_nothing_is_overwritten_unasked(folder: Path, tmp_path: Path) -> None:
    file, out = tmp_path / "t.json", tmp_path / "out"
    fit = ("fit", "platt", folder / "validation.npz", "--out", file)
    assert run(*fit).returncode == 0
    assert run(*fit).returncode == 2
    assert run(*fit, "--overwrite").returncode == 0
    apply = ("apply", file, folder / "predictions", out)
    assert run(*apply).returncode == 0
    refused = run(*apply)
    assert refused.returncode == 2
    assert "--overwrite" in refused.stderr
    assert run("apply", file, folder / "predictions", folder / "predictions").returncode == 2


@pytest.mark.parametrize(
    "arguments",
    [
        ("fit", "temperature", "no such file.npz"),
        ("fit", "magic", "validation.npz"),
        ("fit", "temperature", "predictions/case 0.nii.gz"),
        ("apply", "validation.npz", "predictions", "out of it"),
        ("apply", "missing.json", "predictions", "out of it"),
    ],
)
def test_usage_errors_are_one_line(
    folder: Path, arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    done = run(*arguments)
    assert done.returncode == 2
    assert len(done.stderr.strip().splitlines()) == 1
    assert "Traceback" not in done.stderr


def test_three_classes_with_nnunet_files(tmp_path: Path) -> None:
    z = RNG.normal(0, 2, (3, 6, 7, 8))
    truth = np.array([RNG.choice(3, p=q) for q in _softmax(z).reshape(3, -1).T]).reshape(6, 7, 8)
    sharp = _softmax(3 * z).astype(np.float32)
    sketch = CalibrationSketch("multiclass", 3).update_probabilities(sharp[None], truth[None])
    sketch.save(tmp_path / "s.npz")
    (tmp_path / "in").mkdir()
    np.savez_compressed(tmp_path / "in" / "a.npz", probabilities=sharp)
    assert (
        run("fit", "temperature", tmp_path / "s.npz", "--out", tmp_path / "t.json").returncode == 0
    )
    done = run("apply", tmp_path / "t.json", tmp_path / "in", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    with np.load(tmp_path / "out" / "a.npz", allow_pickle=False) as found:
        after = found["probabilities"]
    np.testing.assert_allclose(after.sum(0), 1.0, atol=1e-5)
    assert np.abs(after - _softmax(z)).mean() < np.abs(sharp - _softmax(z)).mean() / 3


def _softmax(z: np.ndarray) -> np.ndarray:
    e = np.exp(z - z.max(0))
    return e / e.sum(0)
