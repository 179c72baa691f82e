"""``gradsurge recalibrate --nnunet`` typed as a user would, on folders as nnU-Net's."""

import json

import numpy as np
import pytest

from gradsurge.calibration.recalibration import load_recalibration
from tests.experiments.nnunet import folders


@pytest.fixture
def model(tmp_path):
    return folders.trained_model(tmp_path)[0]


@pytest.fixture
def predictions(tmp_path):
    folders.write_descriptions(tmp_path / "new")
    for seed in (10, 11):
        folders.write_prediction(tmp_path / "new", f"case_{seed}", folders.case(seed)[1])
    return tmp_path / "new"


def read(file):
    with np.load(file) as content:
        return content["probabilities"]


def test_fit_on_folds_and_apply_keeps_what_is_beside(run, model, predictions, tmp_path):
    out = tmp_path / "out"
    done = run("recalibrate", "--nnunet", model, "--predictions", predictions, "--out", out)
    assert (done.returncode, done.stderr) == (0, "")
    assert "NLL of these 4 cases" in done.stdout
    fitted = load_recalibration(out / "recalibration.json")
    assert fitted.parameters["temperature"] == pytest.approx([2.0], rel=0.1)  # as made
    assert "4 validation cases of fold_0, fold_1" in fitted.fitted_on
    for file in predictions.iterdir():
        if file.suffix == ".npz":
            before, after = read(file).astype(np.float64), read(out / file.name)
            temperature = fitted.parameters["temperature"][0]
            expected = before.clip(2.0**-24) ** (1 / temperature)
            np.testing.assert_allclose(after, expected / expected.sum(0), atol=2e-6)
        else:  # masks, properties (never opened), plans
            assert (out / file.name).read_bytes() == file.read_bytes()


def test_without_predictions_it_only_fits(run, model, tmp_path):
    out = tmp_path / "out"
    assert run("recalibrate", "--nnunet", model, "--method", "bias", "--out", out).returncode == 0
    assert [f.name for f in out.iterdir()] == ["recalibration.json"]
    assert load_recalibration(out / "recalibration.json").method == "bias"


@pytest.mark.parametrize("name", ["fold_1", "fold_1/validation"])
def test_one_fold_may_be_named(run, model, tmp_path, name):
    out = tmp_path / "out"
    done = run("recalibrate", "--nnunet", model / name, "--out", out)
    assert done.returncode == 0
    assert "2 cases" in done.stdout
    fitted = load_recalibration(out / "recalibration.json").fitted_on
    assert fitted == f"2 validation cases of fold_1 of {model.name}"


def test_a_fold_of_all_cases_is_no_validation(run, model, tmp_path):
    (model / "fold_1").rename(model / "fold_all")
    done = run("recalibrate", "--nnunet", model, "--out", tmp_path / "out")
    assert (done.returncode, "NLL of these 2 cases" in done.stdout) == (0, True)
    (model / "fold_0").rename(tmp_path / "fold_0")
    for folder in (model, model / "fold_all", model / "fold_all" / "validation"):
        done = run("recalibrate", "--nnunet", folder, "--out", tmp_path / "more")
        assert done.returncode == 1
        assert "was validated on the cases it was trained on" in done.stderr


def test_labels_that_moved_can_be_named(run, model, tmp_path):
    (tmp_path / "gt_segmentations").rename(tmp_path / "labels")
    arguments = ("recalibrate", "--nnunet", model, "--out", tmp_path / "out")
    done = run(*arguments)
    assert done.returncode == 1
    assert "--labels" in done.stderr
    assert not (tmp_path / "out").exists()
    assert run(*arguments, "--labels", tmp_path / "labels").returncode == 0


def test_a_bad_case_is_one_line_and_the_fit_goes_on(run, model, tmp_path):
    (model / "fold_0" / "validation" / "case_0.npz").write_bytes(b"no zip")
    done = run("recalibrate", "--nnunet", model, "--out", tmp_path / "out")
    assert done.returncode == 1
    assert "problem: case_0: " in done.stderr
    assert "NLL of these 3 cases" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--nnunet", "gt_segmentations"), "expected a trained model of nnU-Net"),
        (("--nnunet", "."), "holds models, name one: nnUNetTrainer__nnUNetPlans__3d_fullres"),
        (("--nnunet", "missing"), "does not exist"),
        (("--nnunet", "{model}", "--method", "magic"), "magic"),
        (("--nnunet", "{model}", "fit", "temperature", "x"), "--nnunet: goes without fit"),
        (("--method", "bias", "fit", "temperature", "x"), "--method: goes without fit"),
        (("--nnunet", "{model}", "--predictions", ".", "--out", "."), "another folder"),
    ],
)
def test_mistakes_are_one_line(run, model, tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    done = run("recalibrate", *(a.format(model=model) for a in arguments))
    assert done.returncode in (1, 2)
    assert said in done.stderr
    assert done.stderr.startswith("gradsurge: error: ")
    assert done.stderr.count("\n") == 1


def test_results_are_replaced_only_if_one_says_so(run, model, predictions, tmp_path):
    arguments = ("recalibrate", "--nnunet", model, "--predictions", predictions)
    out = ("--out", tmp_path / "out")
    assert run(*arguments, *out).returncode == 0
    done = run(*arguments, *out)
    assert done.returncode == 2
    assert "--overwrite" in done.stderr
    assert run(*arguments, *out, "--overwrite").returncode == 0


def test_alone_it_shows_its_help(run):
    done = run("recalibrate")
    assert done.returncode == 2
    assert "--nnunet" in done.stdout
    assert "compare" in done.stdout


def test_evaluate_reads_what_it_wrote(run, model, predictions, tmp_path):
    for seed in (10, 11):
        folders.write_label(tmp_path / "labels" / f"case_{seed}.nii.gz", folders.case(seed)[0])
    out = tmp_path / "out"
    assert run("recalibrate", "--nnunet", model, "--predictions", predictions, "--out", out)[0] == 0
    done = run(
        "evaluate",
        f"before={predictions}",
        f"after={out}",
        tmp_path / "labels",
        "--out",
        tmp_path / "results",
        "--no-lesions",
        "--json",
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["models"]
    nll = {name: m["pooled"]["all"]["all structures"]["nll"] for name, m in found.items()}
    assert nll["after"] < nll["before"]
