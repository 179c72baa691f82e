"""``gradsurge prepare`` and ``gradsurge inspect`` as a user types them, and kills them."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import time

import nibabel
import numpy as np
import pytest
from PIL import Image

from gradsurge.data.datasets import DATASETS
from gradsurge.data.phantoms import PHANTOMS
from gradsurge.data.store import Store
from gradsurge.experiments import workers
from tests.data.store.fake import contents, times

GRADSURGE = (sys.executable, "-m", "gradsurge")
PHANTOMS_3D = ("organs-3d", "--cases", "10", "--size", "40,40,24", "--seed", "3")


def one_line(result, code, *words):
    assert result.returncode == code
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("gradsurge: error: ")
    for word in words:
        assert word in line


@pytest.fixture(scope="module")
def phantoms(tmp_path_factory):
    """A store made in one go."""
    out = tmp_path_factory.mktemp("cli") / "store"
    command = [*GRADSURGE, "prepare", *PHANTOMS_3D, str(out)]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert result.returncode == 0, result.stderr
    assert result.stdout == f"10 cases prepared, 0 unchanged, 0 removed, 0 failed: {out}\n"
    assert result.stderr == ""
    return out


def nnunet_folder(folder, damaged=()):
    rng = np.random.default_rng(0)
    for sub in ("imagesTr", "labelsTr"):
        (folder / sub).mkdir(parents=True)
    for name in ("one", "two", "three <ä>"):
        image = rng.normal(size=(12, 10, 8)).astype(np.float32)
        label = (image > 1).astype(np.uint8)
        file = folder / "imagesTr" / f"{name}_0000.nii.gz"
        nibabel.save(nibabel.Nifti1Image(image, np.eye(4)), file)
        nibabel.save(nibabel.Nifti1Image(label, np.eye(4)), folder / "labelsTr" / f"{name}.nii.gz")
        if name in damaged:
            file.write_bytes(file.read_bytes()[:300])
    description = {
        "channel_names": {"0": "MRI"},
        "labels": {"background": 0, "lesion": 1},
        "numTraining": 3,
        "file_ending": ".nii.gz",
    }
    (folder / "dataset.json").write_text(json.dumps(description))
    return folder


def test_help_names_every_data_set(run):
    text = " ".join(run("prepare", "--help").stdout.replace("│", " ").split())
    for name in (*DATASETS, *PHANTOMS):
        assert f"{name}," in text or f"{name}." in text or f"{name};" in text


def test_a_finished_run_is_left_alone(run, phantoms):
    before = times(phantoms)
    result = run("prepare", *PHANTOMS_3D, phantoms)
    assert result.returncode == 0
    assert result.stdout.startswith("0 cases prepared, 10 unchanged")
    assert times(phantoms) == before


def wait_for_cases(process, cases, number):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        if cases.exists() and sum(not c.name.startswith(".") for c in cases.iterdir()) >= number:
            return
        time.sleep(0.002)


@pytest.mark.parametrize(("jobs", "kills"), [("1", 2), ("2", 1)])
def test_killed_then_run_again_gives_the_same_store(run, tmp_path, phantoms, jobs, kills):
    command = [*GRADSURGE, "prepare", *PHANTOMS_3D, "-j", jobs, str(tmp_path / "store")]
    for kill in range(kills):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
        wait_for_cases(process, tmp_path / "store" / "cases", 2 * kill + 1)
        time.sleep(random.uniform(0, 0.05))
        os.killpg(process.pid, signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL, "it finished before it could be killed"
    one_line(run("inspect", tmp_path / "store"), 1, "did not finish")
    result = run("prepare", *PHANTOMS_3D, tmp_path / "store")
    assert result.returncode == 0, result.stderr
    assert not result.stdout.startswith("10 cases prepared"), "nothing was kept"
    assert contents(tmp_path / "store" / "cases") == contents(phantoms / "cases")
    found, expected = (
        json.loads((store / "dataset.json").read_text()) for store in (tmp_path / "store", phantoms)
    )
    assert {**found, "date": ""} == {**expected, "date": ""}
    assert contents(tmp_path / "store").keys() == contents(phantoms).keys()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_says_in_one_line_how_to_go_on(run, tmp_path, number):
    many = ("organs-3d", "--cases", "400", "--size", "32,32,24")
    command = [*GRADSURGE, "prepare", *many, str(tmp_path / "store")]
    with subprocess.Popen(command, stdout=-1, stderr=-1, text=True) as process:
        wait_for_cases(process, tmp_path / "store" / "cases", 2)
        process.send_signal(number)
        said, complaints = process.communicate(timeout=30)
    assert process.returncode == 1
    assert said == ""
    assert complaints == (
        "gradsurge: error: stopped; run the same command again, it goes on from there\n"
    )
    assert len(list((tmp_path / "store" / "cases").iterdir())) >= 2


def test_a_raw_folder_with_a_damaged_scan(run, tmp_path):
    raw = nnunet_folder(tmp_path / "raw", damaged=["two"])
    result = run("prepare", "nnunet", raw, tmp_path / "out", "--json")
    assert result.returncode == 1
    found = json.loads(result.stdout)
    assert found["prepared"] == ["one", "three <ä>"]
    ((case, problem),) = found["failures"]
    assert case == "two"
    (line,) = result.stderr.splitlines()
    assert line.startswith("gradsurge: problem: two: ")
    assert "two_0000.nii.gz" in line
    assert json.loads((tmp_path / "out" / "failures.json").read_text()) == [
        {"case": "two", "problem": problem}
    ]
    assert Store.open(tmp_path / "out").cases == ["one", "three <ä>"]
    (raw / "labelsTr" / "one.nii.gz").unlink()
    (raw / "imagesTr" / "one_0000.nii.gz").unlink()
    again = run("prepare", "nnunet", raw, tmp_path / "out")
    assert "removed, no longer in the raw folder: one\n" in again.stdout


def test_inspect_prints_and_draws(run, phantoms, tmp_path):
    result = run("inspect", phantoms, "--cases", "--check", "--sheet", tmp_path / "sheet.png")
    assert result.returncode == 0, result.stderr
    for words in (
        "organs-3d: 10 cases, 3D",
        "classes: 0 background, 1 front, 2 back",
        "40×40×24",
        "train",
        "organs-3d_seed3_00009",
        f"Written: {tmp_path / 'sheet.png'}",
    ):
        assert words in result.stdout
    assert (tmp_path / "sheet.png").stat().st_size > 10_000
    assert re.search(r"checked: every file of \d+ cases is as it was written", result.stdout)


def test_inspect_folds_long_names_in_a_narrow_terminal(run, tmp_path, monkeypatch):
    raw = nnunet_folder(tmp_path / "raw")
    long = "n" * 180
    for folder, end in (("imagesTr", "_0000.nii.gz"), ("labelsTr", ".nii.gz")):
        (raw / folder / f"one{end}").rename(raw / folder / f"{long}{end}")
    description = json.loads((raw / "dataset.json").read_text())
    (raw / "dataset.json").write_text(json.dumps({**description, "name": "Lesions"}))
    assert run("prepare", "nnunet", raw, tmp_path / "store").returncode == 0
    monkeypatch.setenv("COLUMNS", "80")
    said = run("inspect", tmp_path / "store", "--cases").stdout
    assert said.startswith("Lesions (nnunet): 3 cases, 3D\n")
    table = said[said.index("\ncase ") :].splitlines()
    assert max(map(len, table)) <= 80
    for words in ("lesion, voxels", "foreground, %", "spacing, mm", "12×10×8"):
        assert any(words in line for line in table)
    assert "".join(line.split()[0] for line in table if line.startswith("nnn")) == long


def test_inspect_in_json(run, phantoms):
    found = json.loads(run("inspect", phantoms, "--json").stdout)
    assert found["name"] == "organs-3d"
    assert found["splits"]["train"]["cases"] == 6
    assert len(found["cases"]) == 10
    assert found["cases"][0]["shape"] == [40, 40, 24]


@pytest.mark.parametrize("share", [0.5, 0.8])
def test_inspect_names_damage(run, tmp_path, share):
    assert run("prepare", "lesions-2d", tmp_path, "--cases", "2").returncode == 0
    (file,) = (tmp_path / "cases").glob("*00001/image.b2nd")
    content = bytearray(file.read_bytes())
    content[int(share * len(content))] ^= 1
    file.write_bytes(content)
    result = run("inspect", tmp_path, "--check")
    assert result.returncode == 1
    (line,) = result.stderr.splitlines()
    assert line.startswith("gradsurge: problem: lesions-2d_seed0_00001: ")
    assert str(file) in line


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("lesions-5d", "OUT"), ("unknown data set 'lesions-5d'", "nnunet", "lesions-2d")),
        (("lesions-2d", "RAW", "OUT"), ("has no raw data", "prepare lesions-2d OUT")),
        (("nnunet", "OUT"), ("two folders", "prepare nnunet RAW OUT")),
        (("nnunet", "a", "b", "OUT"), ("two folders",)),
        (("nnunet", "RAW", "OUT", "--cases", "3"), ("--cases", "phantoms")),
        (("lesions-2d", "OUT", "--size", "12x12"), ("--size", "12x12")),
        (("lesions-2d", "OUT", "--size", "128"), ("2 axes", "128")),
        (("lesions-2d", "OUT", "--cases", "0"), ("--cases",)),
        (("lesions-2d",), ("[RAW] OUT",)),
    ],
)
def test_bad_usage(run, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    one_line(run("prepare", *arguments), 2, *words)
    assert list(tmp_path.iterdir()) == []


def test_folders_that_do_not_fit(run, tmp_path, phantoms):
    one_line(run("prepare", "nnunet", tmp_path, tmp_path / "out"), 1, str(tmp_path))
    one_line(run("prepare", "lesions-2d", phantoms), 1, "holds the data set organs-3d")
    (tmp_path / "file").write_text("")
    one_line(run("prepare", "lesions-2d", tmp_path / "file"), 2, "is a file")
    one_line(run("inspect", tmp_path), 1, "not a store", str(tmp_path))
    one_line(run("inspect", phantoms, "--sheet", "sheet.pdf"), 2, ".png")
    assert {p.name for p in tmp_path.iterdir()} == {"file"}


def test_a_cluster_that_is_not_there(run, tmp_path, monkeypatch):
    monkeypatch.setattr(workers, "_ANSWER_SECONDS", 0.01)
    result = run("prepare", "lesions-2d", tmp_path, "--cases", "1", "--dask", "tcp://127.0.0.1:9")
    one_line(result, 1, "no Dask scheduler answers at tcp://127.0.0.1:9")


def test_options_of_a_data_set_reach_it(run, tmp_path):
    pictures = tmp_path / "raw" / "images"
    masks = tmp_path / "raw" / "masks"
    for folder, value in ((pictures, 90), (masks, 0)):
        folder.mkdir(parents=True)
        for name in ("ann_1", "ann_2", "bob_1", "cid_1", "dee_1", "eva_1"):
            picture = np.full((20, 24), value, np.uint8)
            picture[5:9, 5:9] = 255
            Image.fromarray(picture).save(folder / f"{name}.png")
    done = run(
        "prepare", "images", tmp_path / "raw", tmp_path / "out", "--set", r"patient=([a-z]+)"
    )
    assert done.returncode == 0, done.stderr
    split = next(part for part in Store.open(tmp_path / "out").splits.values() if "ann_1" in part)
    assert "ann_2" in split


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("speed=3", "has no option 'speed'; it has: spacing, crop"),
        ("spacing=a,b", "spacing"),
        ("crop=round", "crop"),
        ("crop", "NAME=VALUE"),
    ],
)
def test_a_wrong_option_is_bad_usage(run, tmp_path, option, words):
    done = run("prepare", "nnunet", tmp_path, tmp_path / "out", "--set", option)
    assert done.returncode == 2
    assert words in done.stderr


def test_patches_of_a_store_are_drawn(run, phantoms, tmp_path):
    result = run(
        "figures", "patches", phantoms, "--out", tmp_path / "new", "--size", "24,24,16",
        "--cases", "2", "--augmentation", "light",
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    files = [tmp_path / "new" / name for name in ("patches.pdf", "patches.png")]
    assert result.stdout.split() == [str(file) for file in files]
    with Image.open(files[1]) as picture:
        assert picture.width > 1000
    one_line(run("figures", "patches", tmp_path), 1, "not a store")
    one_line(run("figures", "patches", phantoms, "--size", "8,8"), 1, "3 axes, got (8, 8)")
    one_line(run("figures", "patches", phantoms, "--size", "8,x"), 2, "--size", "8,x")
    one_line(run("figures", "patches", phantoms, "--size", "0,8,8"), 2, "above 0")
