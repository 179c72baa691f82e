"""``gradsurge reproduce`` as a user types it."""

import csv
import json
import shutil
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import gradsurge.experiments.study as study
from gradsurge.cli.reproduce import reproduce
from gradsurge.experiments.workers import WorkerError
from tests.experiments.study.tiny import GRID

APP = typer.Typer(pretty_exceptions_enable=False)
APP.command()(reproduce)
PHANTOMS = Path(__file__).parents[2] / "docs" / "results" / "phantoms"


@pytest.fixture
def run(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)

    def typed(*words):
        told = [str(word) for word in words]
        monkeypatch.setattr(sys, "argv", ["gradsurge", "reproduce", *told])
        return CliRunner().invoke(APP, told)

    return typed


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli")
    (folder / "tiny.toml").write_text(GRID)
    return folder


def one_line(result, code, *words):
    assert result.exit_code == code, result.output
    line = result.stderr.splitlines()[-1]
    assert line.startswith("gradsurge: error: ")
    for word in words:
        assert word in line


def test_a_dry_run_tells_runs_time_and_published_numbers(run, tmp_path):
    result = run("fives", "--table", 1, "--table", 3, "--dry-run")
    assert result.exit_code == 0, result.output
    for word in ("dice-surgery.n1000", "0 of 25", "days", "0.3118", "87.84"):
        assert word in result.stdout
    assert "(a guess for one GPU: " in result.stdout
    ours = run("isles", "--dry-run").stdout
    assert "(a guess for two cores: " in ours
    tried = "lr0.001_tried, lr0.003_tried"
    assert f"\ndice: {tried}, best_seed0, best_seed1, best_seed2\n" in ours
    assert list(tmp_path.iterdir()) == []
    told = json.loads(run("fives", "--table", 1, "--dry-run", "--json").stdout)
    assert told["missing"] == 15 * 25  # eleven rows and four of ours; the five best are among them
    assert told["variants"][0]["to_train"] == [f"trial_{n:03d}" for n in range(25)]
    assert "dice-surgery: trial_000, trial_001, ... trial_024" in result.stdout
    assert told["minutes"] == pytest.approx(15 * 25 * 250_000 * told["seconds_a_step"] / 60)
    assert told["folder"] == "runs/fives-paper"
    assert 0.3118 in [number["value"] for number in told["published"] if number["column"] == "nll"]


def test_without_data_the_published_table_is_printed(run, tmp_path):
    result = run("kits", "--losses", "dice,dice-surgery", "--table", 2)
    one_line(result, 1, "kits: no data; give --data RAW or --store STORE", "Get the data from")
    assert "0.0580" in result.stdout
    assert list(tmp_path.iterdir()) == []
    for_machines = run("kits", "--losses", "dice,dice-surgery", "--table", 2, "--json")
    one_line(for_machines, 1, "kits: no data")
    assert for_machines.stdout == ""


@pytest.mark.parametrize(("words", "jobs"), [(("--data", "raw"), 0), (("--store", "x"), 1)])
def test_raw_data_are_prepared_by_all_cores(run, monkeypatch, words, jobs):
    asked = []

    def noted(*given):
        asked.append(given[-1])
        raise WorkerError("a process died")

    monkeypatch.setattr(study, "study_store", noted)
    one_line(run("kits", *words), 1, "a process died")
    assert asked == [jobs]


def test_mistakes_of_usage(run, tmp_path):
    (tmp_path / "file").write_text("")
    result = run("phantoms", "--out", tmp_path / "file")
    assert result.exit_code == 2
    assert run("phantoms", "--scale", "huge").exit_code == 2
    assert run().exit_code == 2


@pytest.fixture(scope="module")
def finished(tiny):
    """The folder of a study whose runs failed at first, and what the command said twice."""
    out, runner = tiny / "out", CliRunner()
    words = [str(tiny / "tiny.toml"), "--table", "1", "--losses", "dice", "--out", str(out)]
    for rate in (0.003, 0.01):
        for seed in ("", "_seed1"):
            junk = out / "runs" / "dice" / f"lr{rate}{seed}"
            junk.mkdir(parents=True)
            (junk / "notes.txt").write_text("mine")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["gradsurge", "reproduce", *words])
        failed = runner.invoke(APP, [*words, "--device", "cpu", "--workers", "0"])
        for junk in (out / "runs" / "dice").glob("lr*"):
            if (junk / "notes.txt").exists():
                shutil.rmtree(junk)
        mended = runner.invoke(APP, [*words, "--device", "cpu", "--workers", "0"])
    return out, failed, mended


def test_failed_runs_are_told_and_the_code_is_1(finished):
    _, failed, _ = finished
    assert failed.exit_code == 1, failed.output
    problems = [
        line for line in failed.stderr.splitlines() if line.startswith("gradsurge: problem")
    ]
    assert len(problems) == 2
    assert "holds no run" in problems[0]
    assert "0 of 2 runs so far" in failed.stdout


def test_mended_it_ends_with_tables(finished):
    out, _, mended = finished
    assert mended.exit_code == 0, mended.output
    assert "Dice" in mended.stdout
    assert "Written:" in mended.stdout
    names = {file.name for file in (out / "tables").iterdir()}
    assert names == {"table1.md", "table1.tex", "table1.csv", "table1.html", "summary.md"}
    assert "| dice |" in (out / "tables" / "summary.md").read_text()
    assert len(list((out / "records" / "dice").glob("*.json"))) == 2


def test_a_finished_study_needs_no_data(finished, tiny, run, tmp_path):
    out, *_ = finished
    for part in ("records", "study.json"):
        copy = shutil.copytree if (out / part).is_dir() else shutil.copyfile
        copy(out / part, tmp_path / part)
    words = [tiny / "tiny.toml", "--table", 1, "--losses", "dice", "--out", tmp_path]
    result = run(*words, "--json")
    assert result.exit_code == 0, result.output
    told = json.loads(result.stdout)
    assert told["records"] == 2
    assert told["failures"] == []
    with (tmp_path / "tables" / "table1.csv").open() as file:
        written = [(line["row"], line["column"], line["value"]) for line in csv.DictReader(file)]
    assert [(n["row"], n["column"], str(n["value"])) for n in told["numbers"]] == written
    assert {file.name for file in tmp_path.iterdir()} == {"records", "study.json", "tables"}
    dry = run(*words, "--dry-run")
    assert "0 runs are missing" in dry.stdout


def test_some_rows_are_printed_and_all_that_are_there_written(run, tmp_path):
    shutil.copytree(PHANTOMS / "records", tmp_path / "records")
    shutil.copyfile(PHANTOMS / "study.json", tmp_path / "study.json")
    result = run("phantoms", "--table", "corrections", "--losses", "svls,nacl", "--out", tmp_path)
    assert result.exit_code == 0, result.output
    assert "SVLS" in result.stdout
    assert "Tversky" not in result.stdout
    for file in ("corrections.md", "summary.md", "expectations.md"):
        assert (tmp_path / "tables" / file).read_text() == (PHANTOMS / "tables" / file).read_text()
    assert not (tmp_path / "tables" / "table2.md").exists()
    # What the other rows lack is told, too.
    record = next((tmp_path / "records" / "tversky").glob("*.json"))
    content = json.loads(record.read_text())
    content["measured"]["problems"] = [["case_007", "its file is damaged"]]
    record.write_text(json.dumps(content))
    run("phantoms", "--table", "corrections", "--losses", "svls", "--out", tmp_path)
    assert "case_007" in (tmp_path / "tables" / "summary.md").read_text()


def test_another_recipe_or_scale_in_the_folder(finished, run, tiny):
    out, *_ = finished
    one_line(run("phantoms", "--out", out), 1, "holds a study with recipe 'tiny', got 'phantoms'")
    other = run(tiny / "tiny.toml", "--scale", "small", "--out", out)
    one_line(other, 1, "holds a study with scale 'paper', got 'small'")


def test_stopped_it_says_how_to_go_on_without_passwords(run, tiny, monkeypatch, tmp_path):
    def stopped(*_):
        raise study.StudyStopped("dice")

    monkeypatch.setattr(study, "reproduce", stopped)
    url = "postgresql://ann:secret@server/studies"
    result = run(tiny / "tiny.toml", "--table", 1, "--out", tmp_path / "out", "--storage", url)
    assert result.exit_code == 1
    line = result.stderr.splitlines()[-1]
    assert line.startswith(
        "gradsurge: stopped, everything is saved; go on with: gradsurge reproduce"
    )
    assert "ann:***@server" in line
    assert "secret" not in result.output


@pytest.mark.parametrize("what", ["overview_of", "study_store"])
def test_stopped_before_a_run_it_promises_nothing(run, tiny, monkeypatch, what):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(study, what, interrupted)
    result = run(tiny / "tiny.toml")
    assert result.exit_code == 1
    assert result.stderr.startswith("gradsurge: stopped; go on with: gradsurge reproduce ")


def test_no_loss_is_not_all_losses(run, tiny):
    result = run(tiny / "tiny.toml", "--losses", " ,")
    assert result.exit_code == 2
    assert "--losses: expected names" in result.stderr


def test_a_changed_recipe_does_not_go_on(finished, run, tiny, tmp_path):
    out, *_ = finished
    (tmp_path / "tiny.toml").write_text(GRID.replace("steps = 4,", "steps = 5,"))
    for words in ((), ("--dry-run",)):
        result = run(tmp_path / "tiny.toml", "--table", 1, "--out", out, *words)
        one_line(result, 1, "begun with run.training.steps 4, the recipe says 5", "another --out")


def test_a_storage_out_of_reach_is_one_line(run, tiny, tmp_path):
    url = "postgresql://ann:Secret@127.0.0.1:1/x"
    result = run(tiny / "tiny.toml", "--table", 1, "--out", tmp_path / "out", "--storage", url)
    one_line(result, 1, "storage: postgresql://ann:***@127.0.0.1:1/x")
    assert "Secret" not in result.output
    assert "problem" not in result.output  # no variant is told to have failed


def test_torchrun_is_refused(run, tiny, monkeypatch, tmp_path):
    monkeypatch.setenv("WORLD_SIZE", "2")
    result = run(tiny / "tiny.toml", "--table", 1, "--out", tmp_path / "out")
    one_line(result, 1, "reproduce: a run is trained by one process")
    assert not (tmp_path / "out").exists()


def test_what_is_only_to_be_measured_is_told(finished, run, tiny, tmp_path):
    out, *_ = finished
    shutil.copytree(out, tmp_path / "out", ignore=lambda _, names: {"store"})
    (tmp_path / "out" / "records" / "dice" / "lr0.01.json").unlink()
    words = [tiny / "tiny.toml", "--table", 1, "--losses", "dice", "--out", tmp_path / "out"]
    dry = run(*words, "--dry-run").stdout.replace("\n", " ")
    assert "0 runs are missing" in dry
    assert "Trained and yet to be measured: 1." in dry
    told = json.loads(run(*words, "--dry-run", "--json").stdout)
    assert [one["unmeasured"] for one in told["variants"]] == [1]
