"""``gradsurge show`` as a user types it."""

import json
from types import SimpleNamespace

import pytest
from PIL import Image

from gradsurge.cli.train_output import print_result, print_runs
from gradsurge.experiments.runs import RunRequest, plan_run
from gradsurge.experiments.runs.history import read_history
from gradsurge.experiments.runs.outcome import Outcome, Scores
from gradsurge.experiments.runs.run_folder import open_folder
from tests.experiments.runs.stores import disc_store


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
    assert "p > 0.5" in result.stdout
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


def outcome(chosen, thresholds, mask_thresholds):
    def scores(nll):
        return Scores(nll, 0.01, 0.1, 0.02, 0.7, {"disc": 0.7}, thresholds, 0.8)

    rows = {"none": scores(0.3), "equilibrium": scores(0.2 if chosen == "equilibrium" else 0.4)}
    return Outcome(6, 9, 2, rows, chosen, 0.75, mask_thresholds, (0.4321,))


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ("equilibrium", "Probabilities are corrected: the equilibrium lowered the NLL from 0.3 to"),
        ("none", "used as they are: the equilibrium would have changed the NLL from 0.3 to 0.4."),
    ],
)
def test_the_verdict_says_from_what_to_what(capsys, tmp_path, chosen, words):
    found = outcome(chosen, (0.99983,), (0.99983,))
    print_result(SimpleNamespace(folder=tmp_path, state="finished", minutes=1.0, outcome=found))
    said = capsys.readouterr().out
    assert words in said
    assert "raw probabilities: 0.9998 (theory: 0.43), Dice 0.7500" in said


@pytest.mark.parametrize(
    ("mask_thresholds", "rule", "dice"), [((0.31,), "p > 0.31", 0.75), ((0.5,), "p > 0.5", 0.75)]
)
def test_the_dice_is_told_with_its_masks(
    capsys, training, monkeypatch, mask_thresholds, rule, dice
):
    from dataclasses import replace

    monkeypatch.setenv("COLUMNS", "140")
    done = outcome("none", (0.31,), mask_thresholds)
    print_runs([replace(read_history(training), outcome=done)])
    heading, line = capsys.readouterr().out.splitlines()
    assert heading.split() == [
        *("run", "loss", "step", "min", "correction", "mask"),
        *("NLL", "ECE", "Brier", "Dice"),
    ]
    assert rule in line
    assert f"{dice:.3f}" in line.split()[-1]
