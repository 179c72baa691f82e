"""``gradsurge show`` as a user types it."""

import json
import sys
from typing import NamedTuple

import pytest
from PIL import Image

from gradsurge.cli import main
from gradsurge.experiments.runs import RunRequest, plan_run
from gradsurge.experiments.runs.run_folder import open_folder
from tests.experiments.runs.stores import disc_store


class Result(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def run(capsys, monkeypatch):
    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["gradsurge", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        return Result(end.value.code, *capsys.readouterr())

    return run


@pytest.fixture
def training(tmp_path):
    """A run that is at its third step."""
    store = disc_store(tmp_path)
    open_folder(tmp_path / "run", plan_run(store, RunRequest("dice-surgery")), resume=False)
    lines = [
        {"kind": "step", "step": n, "loss": 1 / n, "learning_rate": 0.01, "seconds": 20.0}
        for n in (1, 2, 3)
    ]
    lines.append({"kind": "validation", "step": 2, "best": True, "dice": 0.5, "nll": None})
    text = "\n".join(map(json.dumps, lines))
    (tmp_path / "run" / "metrics.jsonl").write_text(text + '\n{"kind": "step", "st')
    return tmp_path / "run"


@pytest.mark.parametrize("suffix", [".png", ".pdf"])
def test_a_run_that_still_trains_is_shown(run, training, tmp_path, suffix):
    file = tmp_path / "figures" / f"curves{suffix}"
    result = run("show", training, training, "--out", file)
    assert result.returncode == 0, result.stderr
    assert "dice-surgery" in result.stdout
    assert "3/" in result.stdout
    assert "0.500" in result.stdout
    assert f"Written: {file}" in result.stdout.replace("\n", "")
    if suffix == ".png":
        with Image.open(file) as picture:
            assert picture.width > 800
    else:
        assert file.read_bytes().startswith(b"%PDF")


def test_json(run, training):
    found = json.loads(run("show", training, "--json").stdout)
    assert found["figure"] == str(training / "curves.png")
    (only,) = found["runs"]
    assert (only["step"], only["minutes"], only["outcome"]) == (3, 1.0, None)
    assert only["validations"] == [{"step": 2, "best": True, "dice": 0.5}]


def test_a_run_without_a_step_is_shown(run, training):
    (training / "metrics.jsonl").unlink()
    assert run("show", training).returncode == 0


def test_mistakes_are_one_line(run, training, tmp_path):
    for arguments, code, word in (
        ((tmp_path / "nowhere",), 1, "not a run"),
        ((training, "--out", "curves.svg"), 2, "ends in .png or .pdf"),
    ):
        result = run("show", *arguments)
        assert (result.returncode, result.stdout) == (code, "")
        (line,) = result.stderr.splitlines()
        assert word in line


def test_damaged_metrics_are_one_line(run, training):
    (training / "metrics.jsonl").write_text('{"kind": "step", "step": 1}\n')
    result = run("show", training)
    assert result.returncode == 1
    assert "metrics.jsonl: damaged" in result.stderr
