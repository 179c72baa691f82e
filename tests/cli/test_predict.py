"""``gradsurge predict`` as a user types it, on runs that were trained for it."""

import json
import os
import shlex
import signal
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import nibabel
import numpy as np
import pytest

from gradsurge.cli import main
from gradsurge.cli.predict_output import print_prediction
from gradsurge.data import check_geometry, check_probabilities, read_label, read_prediction
from gradsurge.data.store import Store
from gradsurge.experiments.prediction import one_case
from gradsurge.experiments.prediction.record import Record, source_classes
from gradsurge.experiments.runs import open_run
from tests.experiments.prediction.fakes import raw_tree, store_of

TINY = ("--steps", "2", "--batch", "1", "--validate-every", "2", "--workers", "0", "--threads", "1")
SMALL = ("--model-option", "features=4", "--augmentation", "none")


class Result(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def call(*arguments):
    """The command in this process, its exit code alone."""
    before = sys.argv
    sys.argv = ["gradsurge", *map(str, arguments)]
    try:
        main()
    except SystemExit as end:
        return end.code
    finally:
        sys.argv = before


@pytest.fixture
def run(capsys):
    def run(*arguments):
        capsys.readouterr()
        return Result(call(*arguments), *capsys.readouterr())

    return run


@pytest.fixture(scope="module")
def phantom(tmp_path_factory):
    """A 2D phantom store, and a run on it."""
    folder = tmp_path_factory.mktemp("phantom")
    made = ("lesions-2d", folder / "store", "--cases", "10", "--size", "32,32")
    assert call("prepare", *made) == 0
    options = ("--loss", "dice-surgery", "--patch", "16,16", *TINY, *SMALL)
    assert call("train", folder / "store", "--out", folder / "run", *options) == 0
    return folder


@pytest.fixture(scope="module")
def volumes(tmp_path_factory):
    """An nnU-Net folder of three classes, and two runs on it."""
    folder = tmp_path_factory.mktemp("volumes")
    labels = {"background": 0, "one": 1, "two": 2}
    raw_tree(folder / "raw", labels, cases=[f"case{n}" for n in range(5)], shape=(18, 16, 13))
    store_of(folder / "raw", folder / "store")
    for seed in ("0", "1"):
        options = (
            "--loss",
            "ce+dice-surgery",
            "--patch",
            "16,16,16",
            "--seed",
            seed,
            *TINY,
            *SMALL,
        )
        assert call("train", folder / "store", "--out", folder / f"run{seed}", *options) == 0
    return folder


def one_line(result, code, *words):
    assert result.returncode == code
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("gradsurge: error: ")
    for word in words:
        assert word in line


def test_a_phantom_store_from_training_to_evaluation(phantom, run, tmp_path):
    out = tmp_path / "out"
    result = run("predict", phantom / "run", phantom / "store", out, "--split", "test")
    assert result.returncode == 0, result.stderr
    names = Store.open(phantom / "store").split("test")
    assert f"Written: {len(names)} of {len(names)} cases" in result.stdout
    assert f"gradsurge evaluate {out} {out / 'labels'}" in result.stdout
    measured = run("evaluate", out, out / "labels", "--out", tmp_path / "scores", "--json")
    assert measured.returncode == 0, measured.stderr
    scores = json.loads(measured.stdout)
    assert scores["models"]["out"]["cases"] == len(names)
    assert scores["models"]["out"]["pooled"]["all"]["foreground"]["nll"] > 0


def test_raw_volumes_from_training_to_evaluation(volumes, run, tmp_path):
    images, out = volumes / "raw" / "imagesTr", tmp_path / "out"
    result = run("predict", volumes / "run0", images, out, "--json")
    assert result.returncode == 0, result.stderr
    told = json.loads(result.stdout)
    assert told == json.loads((out / "predictions.json").read_text())
    trained = open_run(volumes / "run0")
    assert told["runs"][0]["correction"] == trained.default_correction
    assert told["runs"][0]["step"] == trained.outcome.step
    assert told["probabilities"]["channels"] == ["background", "one", "two"]
    for case in told["cases"]:
        source = nibabel.load(images / f"{case['case']}_0000.nii.gz")
        p = nibabel.load(out / case["probabilities"])
        assert p.shape == (*source.shape, 3)
        assert np.array_equal(p.affine, source.affine)
        np.testing.assert_allclose(p.get_fdata().sum(-1), 1.0, atol=1e-5)
    labels = volumes / "raw" / "labelsTr"
    measured = run("evaluate", out, labels, "--out", tmp_path / "scores", "--json")
    assert measured.returncode == 0, measured.stderr
    assert json.loads(measured.stdout)["models"]["out"]["cases"] == 5


def test_corrections_change_the_maps_and_never_the_mask(volumes, run, tmp_path):
    image = volumes / "raw" / "imagesTr" / "case0_0000.nii.gz"
    maps, masks = {}, {}
    for name in ("none", "equilibrium", "bias", "temperature"):
        result = run("predict", volumes / "run0", image, tmp_path / name, "--correction", name)
        assert result.returncode == 0, result.stderr
        assert f"correction of the probabilities: {name}" in result.stdout
        maps[name] = nibabel.load(tmp_path / name / "case0.nii.gz").get_fdata()
        masks[name] = np.asarray(nibabel.load(tmp_path / name / "masks" / "case0.nii.gz").dataobj)
    for name in ("equilibrium", "bias", "temperature"):
        assert np.abs(maps[name] - maps["none"]).max() > 1e-4
        assert np.array_equal(masks[name], masks["none"])


def test_an_ensemble_is_the_mean(volumes, run, tmp_path):
    image, runs = volumes / "raw" / "imagesTr" / "case1_0000.nii.gz", []
    for seed in (0, 1):
        runs.append(volumes / f"run{seed}")
        assert run("predict", runs[-1], image, tmp_path / str(seed)).returncode == 0
    assert run("predict", *runs, image, tmp_path / "both").returncode == 0
    one, two, both = (
        nibabel.load(tmp_path / o / "case1.nii.gz").get_fdata() for o in ("0", "1", "both")
    )
    assert np.abs(one - two).max() > 1e-4
    np.testing.assert_allclose(both, (one + two) / 2, atol=1e-6)


def test_sixteen_bits_and_mirrors(volumes, run, tmp_path):
    image = volumes / "raw" / "imagesTr" / "case0_0000.nii.gz"
    options = ("--bits", "16", "--mirror", "--batch", "4")
    assert run("predict", volumes / "run0", image, tmp_path / "out", *options).returncode == 0
    found = nibabel.load(tmp_path / "out" / "case0.nii.gz")
    assert found.get_data_dtype() == np.uint16
    label = read_label(volumes / "raw" / "labelsTr" / "case0.nii.gz")
    p = read_prediction([tmp_path / "out" / "case0.nii.gz"], label)
    check_geometry(p, label)
    assert check_probabilities(p.array, exclusive=True, step=p.step).shape == (3, 18, 16, 13)


def test_damaged_images_end_with_code_1_and_a_line_each(volumes, run, tmp_path):
    images, place = volumes / "raw" / "imagesTr", tmp_path / "in"
    place.mkdir()
    for name in ("case0", "case1"):
        (place / f"{name}_0000.nii.gz").write_bytes(
            (images / f"{name}_0000.nii.gz").read_bytes()[: 500 if name == "case0" else None]
        )
    result = run("predict", volumes / "run0", place, tmp_path / "out")
    assert result.returncode == 1
    (line,) = result.stderr.splitlines()
    assert line.startswith("gradsurge: problem: case0: ")
    assert "Written: 1 of 2 cases" in result.stdout


def test_mistakes_are_one_line(volumes, phantom, run, tmp_path):
    images, out = volumes / "raw" / "imagesTr", tmp_path / "out"
    one_line(run("predict", volumes / "run0", images), 2, "RUN, INPUT and OUT")
    one_line(run("predict", tmp_path, images, out), 1, "not a run")
    one_line(run("predict", volumes / "run0", tmp_path / "none", out), 1, "no such file")
    one_line(run("predict", volumes / "run0", phantom / "store", out), 1, "not prepared as")
    one_line(
        run("predict", volumes / "run0", phantom / "run", images, out), 1, "one ensemble", "run0"
    )
    one_line(run("predict", volumes / "run0", images, out, "--overlap", "1"), 2, "--overlap")
    one_line(run("predict", volumes / "run0", images, out, "--correction", "x"), 2, "correction")
    one_line(run("predict", volumes / "run0", images, out, "--device", "x"), 1, "device")
    one_line(run("predict", volumes / "run0", images, images), 1, "folder of the input")
    assert not out.exists()
    assert run("predict", volumes / "run0", images / "case0_0000.nii.gz", out).returncode == 0
    one_line(run("predict", volumes / "run0", images, out), 1, "case0.nii.gz", "--overwrite")
    assert run("predict", volumes / "run0", images, out, "--overwrite").returncode == 0


def test_a_damaged_checkpoint_is_one_line(volumes, run, tmp_path):
    broken = tmp_path / "run"
    broken.mkdir()
    for file in ("best.pt", "outcome.json", "config.json"):
        (broken / file).write_bytes((volumes / "run0" / file).read_bytes())
    content = (broken / "best.pt").read_bytes()
    (broken / "best.pt").write_bytes(content[: len(content) // 2])
    out = tmp_path / "out"
    one_line(run("predict", broken, volumes / "raw" / "imagesTr", out), 1, "best.pt")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_leaves_whole_files_only(volumes, run, tmp_path, monkeypatch, number):
    """A real signal, while the second case is being written."""
    written, write = [], one_case.write_mask

    def write_mask(file, mask, frame):
        write(file, mask, frame)
        written.append(file)
        if len(written) == 2:
            os.kill(os.getpid(), number)

    monkeypatch.setattr(one_case, "write_mask", write_mask)
    out = tmp_path / "out"
    result = run("predict", volumes / "run0", volumes / "raw" / "imagesTr", out)
    one_line(result, 1, "stopped", "predictions.json")
    assert not [file for file in out.rglob("*") if "partial" in file.name]
    told = json.loads((out / "predictions.json").read_text())
    assert told["complete"] is False
    assert [case["case"] for case in told["cases"]] == ["case0"]
    assert [f.name for f in out.glob("*.nii.gz")] == ["case0.nii.gz"]
    assert [f.name for f in (out / "masks").iterdir()] == ["case0.nii.gz"]


def test_a_full_disk_is_one_line(volumes, run, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(one_case, "write_map", full)
    result = run("predict", volumes / "run0", volumes / "raw" / "imagesTr", tmp_path / "out")
    one_line(result, 1, str(tmp_path / "out"), "disk is full", "make room", "--overwrite")


def test_merged_classes_are_evaluated_by_their_numbers(run, tmp_path):
    """From the raw labels, whose classes 1 and 2 the store has as one."""
    raw = raw_tree(tmp_path / "raw", {"background": 0, "one": 1, "two": 2})
    merged = ("--set", "merge=any lesion")
    assert run("prepare", "nnunet", raw, tmp_path / "store", *merged).returncode == 0
    options = ("--loss", "dice-surgery", "--patch", "16,16,16", *TINY, *SMALL)
    assert run("train", tmp_path / "store", "--out", tmp_path / "run", *options).returncode == 0
    out = tmp_path / "out"
    said = run("predict", tmp_path / "run", raw / "imagesTr", out)
    assert said.returncode == 0, said.stderr
    line = next(text for text in said.stdout.splitlines() if text.startswith("To measure"))
    command = shlex.split(line.partition("gradsurge ")[2])
    assert command[-2:] == ["--label", "any lesion=1,2"]
    command[command.index("LABELS")] = raw / "labelsTr"
    measured = run(*command, "--out", tmp_path / "scores", "--json")
    assert measured.returncode == 0, measured.stderr
    scores = json.loads(measured.stdout)["models"]["out"]
    pairs = [
        (read_label(out / "masks" / f"{c}.nii.gz").array == 1, read_label(f).array > 0)
        for c in "abcde"
        for f in [raw / "labelsTr" / f"{c}.nii.gz"]
    ]
    both, each = (
        sum(n) for n in zip(*(((m & y).sum(), m.sum() + y.sum()) for m, y in pairs), strict=True)
    )
    assert scores["pooled"]["all"]["any lesion"]["dice"] == pytest.approx(2 * both / each)
    assert "of the masks that gradsurge predict wrote" in measured.stderr


@pytest.mark.parametrize(("foreground", "told"), [([2], {"tumour": [2]}), ([1], None)])
def test_classes_of_the_source(foreground, told):
    facts = SimpleNamespace(
        settings={"foreground": foreground}, label_names={0: "background", 1: "tumour"}
    )
    assert source_classes(facts) == told


def test_regions_say_how_they_are_evaluated(capsys, tmp_path):
    about = {
        "runs": [{"correction": "bias"}],
        "mask": {"rule": "p > threshold", "thresholds": {"whole": 0.41, "core": 0.5}},
        "probabilities": {"regions": {"whole": [1, 2], "core": [2]}, "source_classes": None},
    }
    print_prediction(Record(about, cases=[{"case": "a"}]), Path("out"), as_json=False)
    said = capsys.readouterr().out
    assert "mask: p > threshold (whole 0.41, core 0.5)" in said
    command = "gradsurge evaluate out LABELS --multilabel --label whole=1,2 --label core=2"
    assert command in said
