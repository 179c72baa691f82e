"""Commands and modules run where nnU-Net is."""

import json
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[3]
VARIABLE = "GRADSURGE_NNUNET_PYTHON"
OURS = ROOT / ".venv-nnunet" / "bin" / "python"


def find_python():
    """The interpreter that the variable names, or that of ``make nnunet``; None if neither is."""
    named = os.environ.get(VARIABLE)
    if named:
        assert Path(named).is_file(), f"{VARIABLE}: expected a Python interpreter, got {named!r}"
        return named
    return str(OURS) if (OURS.parents[1] / ".installed").exists() else None


def environment_of(work, **more):
    """The variables of nnU-Net, and gradsurge to import; none of ours that the shell has."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("GRADSURGE_", "nnUNet_"))}
    folders = {f"nnUNet_{kind}": str(work / kind) for kind in ("raw", "preprocessed", "results")}
    return {
        **clean,
        **folders,
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
        "nnUNet_compile": "0",
        "nnUNet_n_proc_DA": "0",  # no workers: batches are few
        "nnUNet_def_n_proc": "1",
        "OMP_WAIT_POLICY": "PASSIVE",  # threads that spin for each other starve a busy machine
        **more,
    }


def run(command, environment):
    """Run a command of nnU-Net's environment; what it printed if it failed is the message."""
    done = subprocess.run(list(map(str, command)), check=False, **_settings(environment))
    assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}"
    return done.stdout


def run_until(word, command, environment):
    """Run a command and kill it as soon as it has printed the word; return what it printed."""
    printed = ""
    with subprocess.Popen(list(map(str, command)), **_settings(environment)) as running:
        for line in running.stdout:
            printed += line
            if word in line:
                running.kill()
                return printed
    raise AssertionError(f"{command} ended without {word!r}\n{printed[-4000:]}")


def _settings(environment):
    return {
        "env": {**environment, "PYTHONUNBUFFERED": "1"},
        "cwd": ROOT,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.STDOUT,
        "text": True,
    }


def ask(python, module, environment, *arguments):
    """Run a module of the tests there, and return the JSON of its last line."""
    printed = run([python, "-m", module, *arguments], environment)
    return json.loads(printed.strip().splitlines()[-1])
