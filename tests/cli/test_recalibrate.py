"""``gradsurge recalibrate`` typed as a user would, on files."""

import io
import json
import shlex
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import NamedTuple

import nibabel
import numpy as np
import pytest
from rich.progress import Progress
from rich.text import Text
from scipy.special import expit, logit

from gradsurge.calibration import CalibrationSketch
from gradsurge.calibration.recalibration import load_recalibration
from gradsurge.cli import main
from gradsurge.experiments.evaluation.run import evaluate
from gradsurge.experiments.evaluation.settings import Settings

RNG = np.random.default_rng(0)
SHAPE = (24, 24, 12)
AFFINE = np.diag([1.0, 2.0, 3.0, 1.0])


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def run(*arguments: str | Path) -> Done:
    """Run the command in this process: a new one takes seconds to import everything."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", ["gradsurge", "recalibrate", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
    return Done(int(ended.value.code or 0), out.getvalue(), err.getvalue())


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
    assert found["same_cases"] is None
    assert found["caption"].endswith("whether these are other cases is not known")
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


@pytest.fixture(scope="module")
def platt(folder: Path) -> Path:
    file = folder / "platt.json"
    assert run("fit", "platt", folder / "validation.npz", "--out", file).returncode == 0
    return file


def save(folder: Path, **arrays: np.ndarray) -> Path:
    folder.mkdir()
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    return folder


def test_numbered_cases_are_no_channels(platt: Path, tmp_path: Path) -> None:
    """Logits have no sum that would tell: img_0001 and img_0002 were once joined."""
    z = RNG.normal(0, 3, (3, *SHAPE)).astype(np.float32)
    source = save(tmp_path / "in", img_0001=z[0], img_0002=z[1], hippocampus_001=z[2])
    done = run("apply", platt, source, tmp_path / "out", "--logits")
    assert done.returncode == 0, done.stderr
    assert "3 of 3 cases to" in done.stdout
    found = load_recalibration(platt)
    for name, values in (("img_0001", z[0]), ("img_0002", z[1]), ("hippocampus_001", z[2])):
        after = np.load(tmp_path / "out" / f"{name}.npy")
        np.testing.assert_array_equal(after, found.apply_logits(values))


def test_channel_files_stay_apart_and_sum_to_one(platt: Path, tmp_path: Path) -> None:
    p, _ = overconfident()
    source = save(tmp_path / "in", a_0000=1 - p, a_0001=p, b_0000=1 - p, c_0000=p, c_0001=p)
    done = run("apply", platt, source, tmp_path / "out")
    assert done.returncode == 1
    assert "1 of 3 cases (2 with a file a channel)" in done.stdout
    lone, sums = done.stderr.strip().splitlines()
    assert "b: one channel file only: b_0000.npy" in lone
    assert "c: the 2 channels do not sum to 1" in sums
    back, front = (np.load(tmp_path / "out" / f"a_000{c}.npy") for c in (0, 1))
    np.testing.assert_array_equal(front, load_recalibration(platt).apply_probabilities(p))
    np.testing.assert_allclose(back + front, 1.0, atol=1e-6)


def test_two_channels_are_not_taken_for_two_slices(platt: Path, tmp_path: Path) -> None:
    p, _ = overconfident()
    source = save(tmp_path / "in", a=np.stack((1 - p, p)))
    flat = np.stack((1 - p[:, :, 0], p[:, :, 0]), axis=-1)
    nibabel.save(nibabel.Nifti1Image(flat, AFFINE), source / "flat.nii.gz")
    unclear = run("apply", platt, source, tmp_path / "out")
    assert unclear.returncode == 1
    assert unclear.stderr.count("may hold channels; say --channels-first") == 2
    assert not list((tmp_path / "out").iterdir())
    said = run("apply", platt, source, tmp_path / "out", "--channels-first")
    assert said.returncode == 0, said.stderr
    after = np.load(tmp_path / "out" / "a.npy")
    np.testing.assert_array_equal(after[1], load_recalibration(platt).apply_probabilities(p))
    np.testing.assert_allclose(after.sum(0), 1.0, atol=1e-6)
    after = nibabel.load(tmp_path / "out" / "flat.nii.gz").get_fdata()
    np.testing.assert_allclose(after.sum(-1), 1.0, atol=1e-6)
    none = run("apply", platt, source, tmp_path / "none", "--no-channels")
    assert none.returncode == 0, none.stderr


def test_rounding_beyond_one_is_clipped_and_more_is_refused_in_plain_words(
    platt: Path, tmp_path: Path
) -> None:
    p, _ = overconfident()
    source = save(tmp_path / "in", over=p * (1 + 5e-6) / p.max(), far=p * 1.01 / p.max())
    done = run("apply", platt, source, tmp_path / "out")
    assert [f.name for f in (tmp_path / "out").iterdir()] == ["over.npy"]
    (line,) = done.stderr.strip().splitlines()
    assert "far: probabilities lie outside [0, 1]" in line
    assert "apply_" not in line


def test_odd_files_do_not_end_the_run(platt: Path, tmp_path: Path) -> None:
    p, _ = overconfident()
    source = save(tmp_path / "in", good=p, mask=(p > 0.5).astype(np.float32))
    plain = nibabel.Nifti1Image(p, AFFINE).to_bytes()
    (source / "not compressed.nii.gz").write_bytes(plain)
    (source / "gone.nii.gz").symlink_to(tmp_path / "nowhere")
    (source / "classes.npz").write_bytes(b"PK")
    np.save(source / "three.npy", np.stack([p / 3] * 3))
    done = run("apply", platt, source, tmp_path / "out")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "2 of 6 cases" in done.stdout, done.stderr
    assert len(done.stderr.strip().splitlines()) == 4
    written = nibabel.load(tmp_path / "out" / "not compressed.nii.gz").get_fdata(dtype=np.float32)
    np.testing.assert_array_equal(written, load_recalibration(platt).apply_probabilities(p))


def test_case_names_are_no_markup(
    platt: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a terminal the bar shows the case: "[/red]" would end the run."""
    seen = []

    def update(_bar: Progress, _task: int, description: str, **_: int) -> None:
        seen.append(Text.from_markup(description).plain)

    monkeypatch.setattr(Progress, "update", update)
    source = save(tmp_path / "in", **{"[ red]a": overconfident()[0], "[red]b": overconfident()[0]})
    assert run("apply", platt, source, tmp_path / "out").returncode == 0
    assert seen == ["applying", "[ red]a", "[red]b"]


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


def test_several_classes_are_told_what_is_known_and_how_to_measure_the_rest(
    tmp_path: Path,
) -> None:
    for name in ("validation", "the test"):
        z = RNG.normal(0, 3, (1, 3, 500))
        sketch = CalibrationSketch("multiclass", 3)
        sketch.update_logits(z, RNG.integers(0, 3, (1, 500))).save(tmp_path / f"{name}.npz")
    done = run(
        "compare",
        "--fit-on",
        tmp_path / "the test.npz",
        "--score-on",
        tmp_path / "validation.npz",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("multiclass sketch") == 1
    table = [line for line in done.stdout.splitlines() if line.startswith("│")]
    assert [line.split()[1] for line in table] == ["none", "temperature"]
    fit, apply, evaluate = done.stdout.splitlines()[-3:]
    assert shlex.split(fit)[4] == str(tmp_path / "the test.npz")
    assert "recalibrate apply isotonic.json PREDICTIONS" in apply
    assert "evaluate before=PREDICTIONS after=recalibrated LABELS" in evaluate


def test_evaluated_cases_are_known_again(tmp_path: Path) -> None:
    """Two models on one case share it, whatever their files; other cases are others."""
    for model in ("one", "two"):
        (tmp_path / model).mkdir()
    for folder in ("labels 1", "labels 2"):
        (tmp_path / folder).mkdir()
    for case in ("a", "b", "c"):
        p, y = overconfident()
        image = nibabel.Nifti1Image(y.astype(np.uint8), AFFINE)
        nibabel.save(image, tmp_path / ("labels 1" if case == "a" else "labels 2") / f"{case}.nii")
        nibabel.save(nibabel.Nifti1Image(p, AFFINE), tmp_path / "one" / f"{case}.nii.gz")
        nibabel.save(nibabel.Nifti1Image(p**2, AFFINE), tmp_path / "two" / f"{case}.nii")
    models = {name: tmp_path / name for name in ("one", "two")}
    settings = Settings(lesions=False)
    first, second = (
        evaluate(models, tmp_path / f"labels {n}", settings, sketches=tmp_path / f"s{n}")
        for n in (1, 2)
    )
    assert (first.models["one"].cases, second.models["two"].cases) == (["a"], ["b", "c"])

    def captioned(fit_on: str, *score_on: str) -> str:
        options = [o for file in score_on for o in ("--score-on", tmp_path / file)]
        done = run("compare", "--fit-on", tmp_path / fit_on, *options, "--json")
        assert done.returncode == 0, done.stderr
        return str(json.loads(done.stdout)["caption"])

    assert captioned("s1/one/pooled.all.npz", "s2/two/pooled.all.npz").endswith("of other cases")
    assert "same cases: too good for new ones (1 case," in captioned(
        "s1/one/pooled.all.npz", "s1/two/cases/a.active.npz"
    )
    assert "fitted on 1 of the 2 cases" in captioned(
        "s2/one/cases/b.all.npz", "s2/two/pooled.all.npz"
    )


def _softmax(z: np.ndarray) -> np.ndarray:
    e = np.exp(z - z.max(0))
    return e / e.sum(0)
