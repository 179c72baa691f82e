"""``gradsurge demo`` as a user types it, at a size that shows nothing but that it works."""

import io
import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from typing import NamedTuple

import pytest
from rich.console import Console

from gradsurge.cli import main
from gradsurge.cli.demo_output import print_demo
from gradsurge.cli.demo_progress import StageBar, StageLines
from gradsurge.experiments.demo import plan_phantoms, run_demo, smoke, trainings
from tests.experiments.prediction.fakes import raw_tree

HEADINGS = ["NLL", "ECE", "MCE", "Brier", "DSC", "RMS", "|p-q|"]
ROWS = ("cross-entropy", "Dice", "Dice surgery", "  corrected", "true posterior")


class Result(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def call(*arguments):
    """The command in this process: what a new one needs to import takes seconds each time."""
    before = sys.argv
    sys.argv = ["gradsurge", "demo", *map(str, arguments)]
    try:
        main()
    except SystemExit as end:
        return end.code
    finally:
        sys.argv = before


@pytest.fixture
def run(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")

    def run(*arguments):
        capsys.readouterr()
        return Result(call(*arguments), *capsys.readouterr())

    return run


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    """The folder of a finished demo, and what was printed."""
    out, said = tmp_path_factory.mktemp("cli-demo") / "demo", (io.StringIO(), io.StringIO())
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(said[0]), redirect_stderr(said[1]):
        patch.setenv("COLUMNS", "80")
        code = call("--tiny", "--out", out)
    return out, Result(code, *(text.getvalue() for text in said))


def one_line(result, code, *words):
    assert result.returncode == code, result
    assert result.stdout == ""
    (line,) = [text for text in result.stderr.splitlines() if not re.match(r"\d/7 ", text)]
    assert line.startswith("gradsurge: error: ")
    for word in words:
        assert word in line


def test_a_demo_prints_a_table_and_what_it_says(done):
    out, result = done
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert max(len(line) for line in lines if str(out) not in line) <= 80
    for name in ROWS:
        (line,) = [text for text in lines if re.match(rf" {name} +\d", text)]
        assert len(re.findall(r"\d\.\d+", line)) == 7  # none cut off
    text = " ".join(result.stdout.split())
    assert re.search(r"masks made of uncorrected probabilities .* Dice surgery p > 0\.\d\d", text)
    for sentence in json.loads((out / "results.json").read_text())["says"]:
        assert sentence in text
    assert f"Report: {out / 'report.html'}" in result.stdout
    for words in (
        "NLL: negative log-likelihood",
        "expected and maximum calibration error, in 15 bins",
        "MCE is the error of one bin",
    ):
        assert words in text
    assert "also chose the weights" not in text
    assert result.stderr.count("    measuring the best weights on all validation cases\n") == 3
    told = [line for line in result.stderr.splitlines() if line.startswith(("1/7", "3/7", "7/7"))]
    assert told == ["1/7 preparing the cases", "3/7 training Dice", "7/7 drawing"]


def test_the_same_command_again_gives_the_same_as_json(run, done):
    out, _ = done
    before = json.loads((out / "results.json").read_text())
    result = run("--tiny", "--out", out, "--json")
    assert result.returncode == 0
    assert result.stderr.count("    kept, trained before\n") == 3
    printed = json.loads(result.stdout)
    files = printed.pop("files")
    assert printed == json.loads((out / "results.json").read_text())
    assert printed["rows"] == before["rows"]
    assert files == [str(out / n) for n in ("report.html", "evaluation/report.html", "maps.png")]
    assert all((out / file).is_file() for file in files)


def test_a_narrow_terminal_without_unicode(done, monkeypatch):
    out, _ = done
    result = run_demo(smoke(plan_phantoms("2d", 0)), out)
    rows = dict(result.rows)
    rows["Dice"] = replace(rows["Dice"], mce=math.nan)
    shown = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    for width, headings in (("70", 5), ("76", 7)):
        monkeypatch.setenv("COLUMNS", width)
        with redirect_stdout(shown):
            print_demo(replace(result, rows=rows), [str(out / "report.html")], as_json=False)
        shown.flush()
        lines = shown.buffer.getvalue().decode("ascii").splitlines()
        (names, *_) = [line.split() for line in reversed(lines) if line.strip()[:5] == "model"]
        assert names == ["model", *HEADINGS[:headings]]
        (dice, *_) = [line.split() for line in reversed(lines) if line.strip()[:6] == "Dice  "]
        assert len(dice) == 1 + headings
        assert dice[3] == "-"
        assert max(len(line) for line in lines if str(out) not in line) <= int(width)


def test_another_demo_needs_another_folder_or_overwrite(run, done):
    out, _ = done
    one_line(run("--tiny", "--out", out, "--seed", 1), 1, "--seed 0, got 1", "--overwrite")
    one_line(run("--out", out), 1, "cases 10, got ", "--overwrite")


def test_real_data_have_no_posterior_and_faults_are_told(run, tmp_path):
    raw = raw_tree(tmp_path / "raw", cases=[f"c{i}" for i in range(6)], shape=(16, 16, 16))
    (raw / "imagesTr" / "c5_0000.nii.gz").write_bytes(b"no image")
    result = run("--tiny", "--data", raw, "--out", tmp_path / "demo")
    assert result.returncode == 1
    assert "gradsurge: problem: c5: " in result.stderr
    assert "|p-q|" not in result.stdout
    assert "Dice surgery" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("--data", "{tmp}/none"), "none"),
        (("--data", "{tmp}", "--preset", "2d"), "--preset is for phantoms"),
        (("--preset", "4d"), "4d"),
        (("--steps", "0"), "--steps"),
    ],
)
def test_bad_usage(run, tmp_path, arguments, word):
    typed = [text.format(tmp=tmp_path) for text in arguments]
    one_line(run(*typed, "--out", tmp_path / "demo"), 2, word)
    assert not (tmp_path / "demo").exists()


def test_a_folder_that_is_not_nnu_nets(run, tmp_path):
    (tmp_path / "raw").mkdir()
    one_line(run("--data", tmp_path / "raw", "--out", tmp_path / "demo"), 1, "dataset.json")
    assert not (tmp_path / "demo").exists()


def test_foreign_files_are_left_alone(run, tmp_path):
    (tmp_path / "report.html").write_text("mine")
    one_line(run("--tiny", "--out", tmp_path, "--overwrite"), 1, "report.html", "not of a demo")
    assert (tmp_path / "report.html").read_text() == "mine"


def test_ctrl_c_between_trainings_is_one_line(run, tmp_path, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(trainings, "plan_run", interrupt)
    one_line(run("--tiny", "--out", tmp_path / "demo"), 1, "the same command goes on from there")


def test_a_stopped_demo_goes_on(tmp_path):
    out = tmp_path / "demo"
    command = [sys.executable, "-m", "gradsurge", "demo", "--tiny", "--out", str(out)]
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}
    )
    deadline = time.monotonic() + 120
    while not (out / "runs" / "ce" / "config.json").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "the same command goes on from there" in said.splitlines()[-1]
    assert "Traceback" not in said
    again = run_demo(smoke(plan_phantoms("2d", 0)), out)
    assert len(again.rows) == 5


def test_lines_of_a_log_come_now_and_then(capsys):
    now = [0.0]
    lines = StageLines(2, every=10.0, clock=lambda: now[0])
    lines.stage("training", 100)
    for step in range(1, 6):
        now[0] += 4.0
        lines.done(step, "loss 0.5")
    lines.stage("measuring", 3)
    assert capsys.readouterr().err.splitlines() == [
        "1/2 training",
        "    3 of 100: loss 0.5",
        "2/2 measuring",
    ]


def test_a_terminal_keeps_a_line_for_every_stage(tmp_path):
    with (tmp_path / "tty").open("w+") as file:
        console = Console(file=file, force_terminal=True, width=80)
        bar = StageBar(console, 2)
        with bar.shown():
            bar.stage("preparing", 1)
            bar.stage("preparing", 30)
            bar.done(30)
            bar.stage("training", 9)
            bar.done(9, "loss 0.5, Dice 0.8")
            bar.note("measuring")  # not of the line that stays
            bar.finish()
        file.seek(0)
        text = file.read()
    assert len(re.findall(r"1/2 preparing: 0 s\n", text)) == 1
    assert len(re.findall(r"2/2 training: 0 s, loss 0.5, Dice 0.8\n", text)) == 1
