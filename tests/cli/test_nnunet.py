"""``gradsurge nnunet`` typed as a user would."""

import json
import shlex
import subprocess
import sys

import pytest

from gradsurge.cli.nnunet import nnunet as command
from gradsurge.experiments.nnunet import installing


@pytest.fixture
def nnunet(tmp_path, monkeypatch):
    """A package with nnU-Net's name and folders."""
    trainers = tmp_path / "nnunetv2" / "training" / "nnUNetTrainer"
    trainers.mkdir(parents=True)
    (tmp_path / "nnunetv2" / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delenv("nnUNet_extTrainer", raising=False)
    return trainers


@pytest.fixture
def run(capsys):
    def run(*arguments):
        with pytest.raises(SystemExit) as end:
            command(list(arguments))
        out, err = capsys.readouterr()
        return end.value.code or 0, out, err

    return run


def test_install_status_uninstall(nnunet, run):
    assert run("status")[0] == 1
    code, out, _ = run("install")
    assert code == 0
    assert f"Written: {nnunet / 'nnUNetTrainerSurgery.py'}" in out
    assert "-tr nnUNetTrainerSurgery" in out
    assert "-tr nnUNetTrainerDiceSurgery" in out
    assert "Already there" in run("install")[1]
    assert run("status")[0] == 0
    found = json.loads(run("status", "--json")[1])
    assert (found["state"], found["found"]) == ("installed", True)
    assert "Removed" in run("uninstall")[1]
    assert "Not there" in run("uninstall")[1]


def test_an_old_installation_leads_to_install_again(nnunet, run):
    text = "gradsurge nnunet install: nnUNetTrainerSurgery"
    (nnunet / "nnUNetTrainerSurgery.py").write_text(text)
    code, out, _ = run("status")
    assert code == 1
    assert "does not find nnUNetTrainerDiceSurgery; next: gradsurge nnunet install" in out
    assert json.loads(run("status", "--json")[1])["trainers"] == ["nnUNetTrainerSurgery"]
    assert "Written" in run("install")[1]
    assert run("status")[0] == 0


def test_print_env_writes_nothing_and_is_a_line_for_a_shell(nnunet, run):
    code, out, _ = run("install", "--print-env")
    assert code == 0
    assert list(nnunet.iterdir()) == []
    shell = f'{out.strip()}; printf %s "$nnUNet_extTrainer"'
    value = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, check=True).stdout
    assert value == str(installing.trainer_folder())
    assert shlex.split(out)[0] == "export"


def test_without_nnunet_one_line(run, monkeypatch):
    monkeypatch.setattr(installing.importlib.util, "find_spec", lambda name: None)
    for word in ("install", "uninstall", "status"):
        code, out, err = run(word)
        assert (code, out) == (1, "")
        assert err.startswith("gradsurge: error: nnU-Net is not installed")
        assert err.count("\n") == 1


def test_a_folder_that_cannot_be_written_leads_to_the_variable(nnunet, run, monkeypatch):
    def refuse(file, content):
        raise PermissionError(13, "Permission denied", str(file))

    monkeypatch.setattr(installing, "write_whole", refuse)
    code, _, err = run("install")
    assert code == 1
    assert "Permission denied" in err
    assert "--print-env" in err


def test_help_needs_no_torch():
    code = "import sys; from gradsurge.cli.nnunet import nnunet; nnunet(['install', '--help'])"
    found = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", code], capture_output=True, text=True, check=True
    )
    assert "--print-env" in found.stdout
    assert "torch" not in [line.rpartition("|")[2].strip() for line in found.stderr.splitlines()]
