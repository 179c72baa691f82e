"""``gradsurge search`` as a user types it."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import threading

import pytest
import typer

from gradsurge.cli.worker_options import begin, stop
from gradsurge.data.datasets.phantom_set import PhantomSet
from gradsurge.experiments.preparing import prepare
from gradsurge.experiments.runs import open_run
from gradsurge.experiments.search import open_study, select, study_status
from gradsurge.experiments.search.presence import Worker, present
from gradsurge.experiments.search.take_up import claim_next
from gradsurge.training.fabric import ranks_of
from tests.experiments.search.tiny import RECIPE, STEPS, wait_for, write_recipe


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("search")
    prepare(PhantomSet("lesions-2d", 10, (24, 24)), folder, folder / "store")
    return folder / "store"


@pytest.fixture(scope="module")
def recipe(tmp_path_factory):
    return write_recipe(tmp_path_factory.mktemp("recipe"))


def one_line(result, code, *words):
    assert result.returncode == code, result
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("gradsurge: error: ")
    for word in words:
        assert word in line


def typed(recipe, store, out, *others, loss="dice-surgery"):
    words = ("search", recipe, "--loss", loss, "--store", store, "--out", out, "--workers", 0)
    return (*words, "--device", "cpu", *others)


def test_a_search_from_its_first_trial_to_its_status(run, recipe, store, tmp_path):
    out = tmp_path / "search"
    first = run(*typed(recipe, store, out, "--trials", 1))
    assert first.returncode == 0, first.stderr
    assert "tiny/paper/dice-surgery: 1 done" in first.stdout
    assert "now trial 0: learning_rate 0.0" in first.stderr
    assert f"step {STEPS}: validation: Dice" in first.stderr
    more = run(*typed(recipe, store, out, "--trials", 2, "--json"))
    found = json.loads(more.stdout)
    assert (found["reason"], found["trained"], found["done"]) == ("complete", [1], 2)
    trials = found["trials"]
    dice = [open_run(out / trial["run"]).outcome.scores["none"].dice for trial in trials]
    assert [trial["dice"] for trial in trials] == dice
    (searched,) = study_status(str(out / "search.journal"))
    assert found["best"] == select(searched.trials, 1)[0].index
    fewer = run(*typed(recipe, store, out, "--trials", 1))
    assert (fewer.returncode, "2 done" in fewer.stdout) == (0, True)
    table = run("search", "status", out)
    assert "tiny/paper/dice-surgery: 2 done" in table.stdout
    best = select(study_status(str(out / "search.journal"))[0].trials, 1)[0]
    assert f"best: trial {best.index}, Dice {best.dice:.4f}: learning_rate" in table.stdout
    listed = json.loads(run("search", "status", out, "--json").stdout)
    assert [trial["run"] for trial in listed[0]["trials"]] == [
        f"runs/dice-surgery/trial_{i:03d}" for i in range(2)
    ]
    assert run("search", "status", out, "--watch").stdout == table.stdout


def test_what_it_tells_to_type_next_works_with_a_storage_elsewhere(run, recipe, store, tmp_path):
    storage = tmp_path / "other folder" / "shared.journal"
    storage.parent.mkdir()
    words = typed(recipe, store, tmp_path / "a search", "--trials", 1, "--storage", storage)
    done = run(*words)
    told = done.stdout.splitlines()[-1].partition("(all: gradsurge ")[2].removesuffix(")")
    table = run(*shlex.split(told)).stdout
    assert re.match(r"tiny/paper/dice-surgery@\w+: 1 done", table)


def test_a_journal_elsewhere_calls_no_worker_dead(run, tmp_path):
    storage, worker = tmp_path / "journals" / "shared.journal", Worker()
    storage.parent.mkdir()
    study = open_study(str(storage), "a/dice", [{"a": 1}])
    with present(tmp_path / "study", worker):  # locks are in the study's folder
        claim_next(study, worker, lambda *_: False)
        found = run("search", "status", "--storage", storage)
    assert "a/dice: 1 running" in found.stdout


def test_a_trial_that_fails_is_told(run, recipe, store, tmp_path):
    out = tmp_path / "search"
    taken = out / "runs" / "dice" / "trial_000"
    taken.mkdir(parents=True)
    (taken / "thesis.txt").write_text("mine")
    result = run(*typed(recipe, store, out, "--trials", 1, "--tries", 2, loss="dice"))
    assert result.returncode == 1
    reason = f"{taken}: is not empty and holds no run; choose another folder"
    assert f"trial 0: will be tried again: {reason}" in result.stderr
    assert f"trial 0: given up: {reason}" in result.stdout
    table = run("search", "status", out)
    assert "1 failed" in table.stdout
    assert "is not empty" in table.stdout
    (taken / "thesis.txt").unlink()
    still = run(*typed(recipe, store, out, "--trials", 1, loss="dice"))
    assert (still.returncode, "1 failed" in still.stdout) == (1, True)
    mended = run(*typed(recipe, store, out, "--trials", 1, "--retry", loss="dice"))
    assert (mended.returncode, "1 done" in mended.stdout) == (0, True)


BAD = [
    (["--loss", "dcie"], 2, ["no variant 'dcie'", "dice-surgery"]),
    (["--loss", "dice-surgery.n1"], 1, ["takes the point of dice-surgery"]),
    (["--trials", "0"], 2, ["--trials"]),
    (["--scale", "huge"], 2, ["--scale"]),
    (["--grace", "1"], 2, ["--grace"]),
    (["--tries", "0"], 2, ["--tries"]),
    (["--store", "nowhere"], 1, ["nowhere"]),
    (["--storage", "nowhere.db"], 1, ["nowhere.db is no journal"]),
    (["--storage", "postgresql://ann:Secret@127.0.0.1:1/x"], 1, ["ann:***@127.0.0.1:1/x"]),
    (["--storage", "postgresql://ann:Secret"], 1, ["is no URL"]),
    (["--storage", "oracle://ann:Secret@server"], 1, ["oracle://ann:***@server"]),
]


@pytest.mark.parametrize(("options", "code", "words"), BAD, ids=lambda value: str(value)[:40])
def test_mistakes_are_one_line(run, recipe, store, tmp_path, monkeypatch, options, code, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nowhere.db").write_text("my notes")
    result = run(*typed(recipe, store, tmp_path / "search", *options))
    one_line(result, code, *words)
    assert "Secret" not in result.stderr


def test_other_mistakes(run, recipe, store, tmp_path, monkeypatch):
    one_line(run(*typed("fvies", store, tmp_path / "x")), 2, "recipe: unknown 'fvies'", "fives")
    one_line(run("search"), 2, "RECIPE")
    one_line(run("search", "status"), 2, "give the FOLDER")
    one_line(run("search", "status", tmp_path, "--watch", "--json"), 2, "--watch and --json")
    one_line(run("search", "status", tmp_path), 1, "search.journal: no such journal")
    url = "postgresql://ann:Secret@127.0.0.1:1/x"
    gone = run("search", "status", "--storage", url)
    one_line(gone, 1, "ann:***@127.0.0.1")
    assert "Secret" not in gone.stderr
    one_line(run("search", "status", tmp_path, "--storage", url), 1, "no search was begun there")
    monkeypatch.setenv("WORLD_SIZE", "2")
    one_line(run(*typed(recipe, store, tmp_path / "x")), 1, "one process", "torchrun")
    assert not (tmp_path / "x").exists()


def test_tasks_of_srun_are_workers_of_their_own(monkeypatch):
    monkeypatch.setenv("SLURM_STEP_ID", "0")
    monkeypatch.setenv("SLURM_NTASKS", "2")
    assert ranks_of(os.environ) == (2, 1)
    assert begin({"workers": 0}, "gradsurge search") == 0
    assert ranks_of(os.environ) == (1, 1)


@pytest.mark.parametrize(
    "words",
    [
        ("search", "URL", "--loss", "dice", "--store", "x", "--out", "y"),
        ("search", "fives", "--loss", "dice", "--store", "URL", "--out", "y"),
        ("search", "fives", "--loss", "URL", "--store", "x", "--out", "y"),
        ("search", "fives", "URL", "--loss", "dice", "--store", "x", "--out", "y"),
        ("search", "status", "URL"),
        ("search", "status", "x", "URL"),
        ("search", "status", "--storage=URL", "--watch"),
    ],
)
def test_a_password_in_the_wrong_place_is_not_printed_either(run, words):
    url = "postgresql://ann:Secret word@127.0.0.1:1/x"
    result = run(*(word.replace("URL", url) for word in words))
    assert result.returncode in (1, 2)
    assert "Secret" not in result.stdout + result.stderr
    assert "***" in result.stderr


def test_a_study_of_another_recipe_is_refused(run, recipe, store, tmp_path):
    out = tmp_path / "search"
    out.mkdir()
    points = [{"training.learning_rate": 0.5}]
    open_study(str(out / "search.journal"), "tiny/paper/dice", points)
    result = run(*typed(recipe, store, out, loss="dice"))
    one_line(result, 1, "trial 0 has training.learning_rate 0.5, the recipe says 0.0")
    assert not (out / "study.json").exists()  # what is refused leaves no mark


def test_a_store_of_something_else_is_refused(run, recipe, store, tmp_path):
    out = tmp_path / "search"
    refused = run(*typed("fives", store, out))
    one_line(refused, 1, "is a store of lesions-2d, the recipe is for fives", "--scale smoke alone")
    other = tmp_path / "other.toml"
    other.write_text(RECIPE.replace("cases = 10", "cases = 20"))
    one_line(run(*typed(other, store, out)), 1, "prepared with cases 10, the recipe says 20")
    assert not out.exists()


def test_trials_of_another_recipe_do_not_count_as_done(run, recipe, store, tmp_path):
    out = tmp_path / "search"
    assert run(*typed(recipe, store, out, "--trials", 1)).returncode == 0
    changed = tmp_path / "tiny.toml"
    changed.write_text(RECIPE.replace(f"steps = {STEPS}", f"steps = {2 * STEPS}"))
    refused = run(*typed(changed, store, out, "--trials", 1))
    one_line(refused, 1, f"begun with run.training.steps {STEPS}, the recipe says {2 * STEPS}")
    words = ("reproduce", recipe, "--losses", "dice-surgery", "--store", store, "--out", out)
    found = run(*words, "--dry-run", "--json")
    variants = json.loads(found.stdout)["variants"]
    assert [one["tries_done"] for one in variants if one["variant"] == "dice-surgery"] == [1]


def test_other_cases_do_not_go_on(run, recipe, store, tmp_path):
    out, other = tmp_path / "search", tmp_path / "store"
    shutil.copytree(store, other)
    facts = json.loads((other / "dataset.json").read_text())
    facts["splits"]["test"], facts["splits"]["validation"] = (
        facts["splits"]["validation"],
        facts["splits"]["test"],
    )
    (other / "dataset.json").write_text(json.dumps(facts))
    assert run(*typed(recipe, store, out, "--trials", 1)).returncode == 0
    one_line(run(*typed(recipe, other, out, "--trials", 1)), 1, "has other cases or splits")


def test_stopped_it_says_how_to_go_on(run, recipe, store, tmp_path):
    out = tmp_path / "search"

    def soon():
        wait_for(lambda: list(out.rglob("last.pt")))
        os.kill(os.getpid(), signal.SIGTERM)

    stopper = threading.Thread(target=soon)
    stopper.start()
    result = run(*typed(recipe, store, out, "--trials", 2))
    stopper.join()
    assert result.returncode == 1
    last = result.stderr.splitlines()[-1]
    assert last.startswith("gradsurge: stopped, everything is saved; go on with: gradsurge search ")
    assert "waiting" in result.stdout
    done = run(*typed(recipe, store, out, "--trials", 2))
    assert (done.returncode, "2 done" in done.stdout) == (0, True)


def test_stopped_before_a_trial_it_promises_nothing(run, recipe, store, tmp_path, monkeypatch):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("gradsurge.cli.search_work._join_and_work", interrupted)
    result = run(*typed(recipe, store, tmp_path / "search", "--trials", 1))
    assert result.returncode == 1
    assert result.stderr.startswith("gradsurge: stopped; go on with: gradsurge search ")


def test_stopped_within_an_import_it_imports_nothing(monkeypatch, capsys):
    # What was torn while torch was loading cannot be imported again.
    monkeypatch.setitem(sys.modules, "gradsurge.experiments.search", None)
    monkeypatch.setattr(sys, "argv", ["gradsurge", "search", "recipe"])
    with pytest.raises(typer.Exit):
        stop()
    assert capsys.readouterr().err.endswith("go on with: gradsurge search recipe\n")


def test_help_and_hints_name_what_is_typed(run):
    shown = " ".join(run("search", "--help").stdout.split())
    assert "gradsurge search RECIPE --loss NAME [OPTIONS]" in shown
    assert "or: gradsurge search status [FOLDER] [OPTIONS]" in shown
    assert "search run" not in shown
    one_line(run("search"), 2, "(see gradsurge search --help)")
    one_line(run("search", "status"), 2, "(see gradsurge search status --help)")
    assert "gradsurge search status [OPTIONS] [FOLDER]" in run("search", "status", "-h").stdout


def test_help_does_not_load_the_heavy_parts():
    script = (
        "import sys, gradsurge.cli.search; "
        "sys.exit(bool({'torch', 'optuna', 'numpy'} & sys.modules.keys()))"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
