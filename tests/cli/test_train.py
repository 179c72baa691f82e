"""``gradsurge train`` as a user types it, stops it, and takes it up again."""

import json
import os
import signal
import subprocess
import sys

import pytest

from gradsurge.cli import train_work
from gradsurge.cli.train_work import resume_command
from gradsurge.experiments.runs import open_run
from tests.experiments.runs.stores import disc_store

GRADSURGE = (sys.executable, "-m", "gradsurge")
SMALL = ("--patch", "16,16", "--batch", "2", "--augmentation", "none", "--workers", "0")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return disc_store(tmp_path_factory.mktemp("cli")).path


def one_line(result, code, *words):
    assert result.returncode == code, result
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("gradsurge: error: ")
    for word in words:
        assert word in line


def steps(number):
    return ("--steps", number, "--validate-every", 2, *SMALL)


def test_training_prints_what_came_of_it(run, store, tmp_path):
    out = tmp_path / "run"
    result = run("train", store, "--loss", "dice-surgery", "--out", out, *steps(4))
    assert result.returncode == 0, result.stderr
    for word in ("NLL", "ECE", "Brier", "Dice", "equilibrium", "minutes", "(theory: 0."):
        assert word in result.stdout
    assert f"Next: gradsurge predict {out} IMAGES OUT" in result.stdout
    assert "step 4: validation: Dice" in result.stderr
    names = {file.name for file in out.iterdir()}
    assert names >= {"config.json", "best.pt", "last.pt", "metrics.jsonl", "tensorboard"}
    assert [file.name for file in sorted((out / "looks").iterdir())] == [
        "step_000002.png",
        "step_000004.png",
    ]
    again = run("train", store, "--loss", "dice-surgery", "--out", out, *steps(4))
    one_line(again, 1, "holds a run already; add --resume")
    other = run("train", store, "--loss", "dice-surgery", "--out", out, "--resume", *steps(5))
    one_line(other, 1, "training.steps is 4 in this run, got 5")
    done = run("train", store, "--loss", "dice-surgery", "--out", out, "--resume", *steps(4))
    assert done.returncode == 0
    assert "this run is finished" in done.stdout
    shown = run("show", out, "--json")
    found = json.loads(shown.stdout)
    assert found["runs"][0]["step"] == 4
    assert (out / "curves.png").exists()


def test_json(run, store, tmp_path):
    out = tmp_path / "run"
    result = run("train", store, "--loss", "ce", "--out", out, "--json", *steps(2))
    found = json.loads(result.stdout)
    assert found["state"] == "finished"
    assert found["outcome"]["scores"]["none"]["nll"] > 0
    assert found["outcome"]["theory_thresholds"] is None


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--loss", "dcie"], 2, ["unknown 'dcie'", "dice"]),
        (["--loss", "dice", "--loss-option", "sigma=1"], 1, ["unknown option 'sigma'"]),
        (["--loss", "dice", "--loss-option", "sigma"], 1, ["--loss-option: expected NAME=VALUE"]),
        (["--loss", "dice", "--model-option", "x"], 1, ["--model-option: expected NAME=VALUE"]),
        (["--loss", "dice", "--model-option", "colour=3"], 1, ["colour"]),
        (["--loss", "dice", "--model", "vnet"], 2, ["--model: unknown 'vnet'"]),
        (["--loss", "dice", "--preset", "paper-3d"], 1, ["paper-3d is for 3D"]),
        (["--loss", "dice", "--preset", "fast"], 2, ["fast"]),
        (["--loss", "dice", "--patch", "16"], 2, ["--patch: expected two or three"]),
        (["--loss", "dice", "--patch", "a,b"], 2, ["--patch: expected two or three"]),
        (["--loss", "dice", "--patch", "16,16,16"], 1, ["patch: the store has 2 axes"]),
        (["--loss", "dice", "--batch", "0"], 2, ["--batch"]),
        (["--loss", "dice", "--oversample", "1.5"], 2, ["--oversample"]),
        (["--loss", "dice", "--patches-per-case", "0"], 2, ["--patches-per-case"]),
        (["--loss", "dice", "--augmentation", "heavy"], 2, ["--augmentation"]),
        (["--loss", "dice", "--steps", "0"], 2, ["--steps"]),
        (["--loss", "dice", "--seed", "-1"], 2, ["--seed"]),
        (["--loss", "dice", "--optimiser", "adam"], 2, ["--optimiser"]),
        (["--loss", "dice", "--learning-rate", "-1"], 1, ["learning_rate: expected"]),
        (["--loss", "dice", "--weight-decay", "-1"], 1, ["weight_decay: expected"]),
        (["--loss", "dice", "--momentum", "1"], 1, ["momentum: expected"]),
        (["--loss", "dice", "--steps", "5", "--warmup", "5"], 1, ["warmup: expected"]),
        (["--loss", "dice", "--clip", "-1"], 2, ["--clip"]),
        (["--loss", "dice", "--accumulate", "0"], 2, ["--accumulate"]),
        (["--loss", "dice", "--ema", "1"], 1, ["ema: expected"]),
        (["--loss", "dice", "--precision", "8"], 2, ["--precision"]),
        (["--loss", "dice", "--precision", "16-mixed", "--device", "cpu"], 1, ["16-mixed"]),
        (["--loss", "dice", "--validate-every", "0"], 2, ["--validate-every"]),
        (["--loss", "dice", "--checkpoint-every", "0"], 2, ["--checkpoint-every"]),
        (["--loss", "dice", "--validation-cases", "0"], 2, ["--validation-cases"]),
        (["--loss", "dice", "--surgery-start", "0.5"], 1, ["dice has none to start later"]),
        (["--loss", "dice-surgery", "--surgery-start", "1"], 1, ["surgery start"]),
        (["--loss", "dice-surgery", "--surgery-start", "0.9999"], 1, ["none of them reaches"]),
        (["--loss", "dice-surgery", "--surgery-ramp", "0.5", "0.2"], 1, ["surgery ramp"]),
        (
            ["--loss", "dice-surgery", "--surgery-start", "0.5", "--surgery-ramp", "0", "0.2"],
            2,
            ["one of the two"],
        ),
        (["--loss", "dice", "--init", "nowhere"], 1, ["nowhere: not a run"]),
        (["--loss", "dice", "--device", "tpu"], 1, ["device: expected auto"]),
        (["--loss", "dice", "--workers", "-1"], 2, ["--workers"]),
        (["--loss", "dice", "--threads", "0"], 2, ["--threads"]),
        ([], 2, ["--loss"]),
    ],
)
def test_mistakes_are_one_line(run, store, tmp_path, options, code, words):
    out = tmp_path / "run"
    one_line(run("train", store, "--out", out, *options), code, *words)
    assert not (out / "best.pt").exists()


def test_without_a_compiler_nothing_is_begun(run, store, tmp_path, monkeypatch):
    monkeypatch.setenv("CXX", "no-such-compiler")
    out = tmp_path / "run"
    result = run("train", store, "--loss", "dice", "--out", out, "--compile", *steps(2))
    one_line(result, 1, "compile: ", "no-such-compiler is not there")
    assert not out.exists()


def test_what_is_no_store_is_one_line(run, tmp_path):
    one_line(run("train", tmp_path, "--loss", "dice", "--out", tmp_path / "run"), 1, "not a store")
    (tmp_path / "file").write_text("")
    result = run("train", tmp_path, "--loss", "dice", "--out", tmp_path / "file")
    one_line(result, 2, "expected a directory")


@pytest.mark.parametrize("command", ["train", "show"])
def test_help_loads_nothing_heavy(command):
    code = (
        f"import sys; sys.argv = ['gradsurge', '{command}', '--help'];"
        "from gradsurge.cli import main;"
        "import atexit;"
        "heavy = {'torch', 'matplotlib', 'numpy', 'lightning_fabric'};"
        "atexit.register(lambda: print('heavy:', *(heavy & sys.modules.keys())));"
        "main()"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert result.returncode == 0
    assert f"Usage: gradsurge {command}" in result.stdout
    assert result.stdout.splitlines()[-1] == "heavy:"


def test_several_processes_go_on_as_several():
    argv = ["gradsurge", "train", "store", "--resume"]
    told = {"TORCHELASTIC_RUN_ID": "none", "LOCAL_WORLD_SIZE": "2", "WORLD_SIZE": "2"}
    command = "torchrun --nproc-per-node 2 -m gradsurge train store --resume"
    assert resume_command(argv, told) == command
    assert "--nnodes 3" in resume_command(argv, {**told, "WORLD_SIZE": "6"})


def test_sigterm_while_planning_says_how_to_go_on(run, store, tmp_path, monkeypatch):
    monkeypatch.setattr(train_work, "_plan", lambda _: signal.raise_signal(signal.SIGTERM))
    before = signal.getsignal(signal.SIGTERM)
    try:
        result = run("train", store, "--loss", "dice", "--out", tmp_path / "run")
    finally:
        signal.signal(signal.SIGTERM, before)
    assert (result.returncode, result.stdout) == (1, "")
    (line,) = result.stderr.splitlines()
    assert line.startswith("gradsurge: stopped; go on with: gradsurge train ")
    assert line.endswith(" --resume")


def test_flags_take_no_value_and_the_help_says_so(run):
    for command in ("train", "show"):
        shown = run(command, "--help").stdout
        lines = [line for line in shown.splitlines() if "<bool>" in line]
        assert all("--help" in line for line in lines), lines


def environment():
    return {**os.environ, "OMP_NUM_THREADS": "1"}


def test_a_stopped_training_says_how_to_go_on_and_does(store, tmp_path):
    out = tmp_path / "a run"
    command = ["train", str(store), "--loss", "dice-surgery", "--out", str(out), "--steps", "4000"]
    command += ["--validate-every", "4000", *SMALL]
    process = subprocess.Popen(
        [*GRADSURGE, *command], stderr=subprocess.PIPE, text=True, env=environment()
    )
    try:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("step 1 of"):
                process.send_signal(signal.SIGTERM)
                break
        _, stderr = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 1
    assert stderr.splitlines()[-1].endswith(
        f"everything is saved; go on with: gradsurge train {store} --loss dice-surgery --out "
        f"'{out}' --steps 4000 --validate-every 4000 {' '.join(SMALL)} --resume"
    )
    assert (out / "last.pt").exists()


def test_two_ranks_score_what_one_process_scores(run, store, tmp_path):
    options = ["--loss", "ce+dice-surgery", "--loss-option", "batch=true", *map(str, steps(2))]
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2"]
    together = subprocess.run(
        [*torchrun, "-m", "gradsurge", "train", store, "--out", tmp_path / "two", *options],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env=environment(),
    )
    assert together.returncode == 0, together.stderr
    assert together.stdout.count("Next: ") == 1
    assert run("train", store, "--out", tmp_path / "one", *options).returncode == 0
    one, two = (open_run(tmp_path / name).outcome for name in ("one", "two"))
    assert one.scores.keys() == two.scores.keys()
    assert "equilibrium" in one.scores
    for name in one.scores:
        for score in ("nll", "ece", "brier", "dice"):
            first, second = (getattr(o.scores[name], score) for o in (one, two))
            assert first == pytest.approx(second, rel=1e-3, abs=1e-4), (name, score)
    shifts = [one.theory_thresholds, two.theory_thresholds]
    assert shifts[0] == pytest.approx(shifts[1], rel=1e-3)
    metrics = [(tmp_path / name / "metrics.jsonl").read_text() for name in ("one", "two")]
    losses = [[json.loads(line).get("loss") for line in text.splitlines()] for text in metrics]
    assert losses[0][:2] == pytest.approx(losses[1][:2], rel=1e-4)
