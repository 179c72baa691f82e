"""``gradsurge doctor``: what it says of this environment, and of broken ones."""

import json
import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
import torch

from gradsurge.experiments.doctor import diagnosis, machine
from gradsurge.experiments.doctor.requirements import Package
from gradsurge.experiments.nnunet import installing

MISSING = Package("no-such-package", ">=2", None, False)


@pytest.fixture
def packages(monkeypatch):
    """Let extras, and what they need, be these."""

    def these(**needed):
        monkeypatch.setattr(diagnosis, "extras_of", lambda _: [n for n in needed if n != "always"])
        monkeypatch.setattr(
            diagnosis, "required_packages", lambda _, extra="always": needed.get(extra, [])
        )

    return these


def test_it_prints_versions_and_devices_of_this_environment(run):
    result = run("doctor")
    assert result.returncode == 0
    assert result.stderr == ""
    assert result.stdout.startswith("gradsurge ")
    assert platform.python_version() in result.stdout
    assert torch.__version__ in result.stdout
    assert "device          cpu" in result.stdout
    assert result.stdout.endswith("Nothing is missing that gradsurge needs.\n")


def test_json_has_the_same_facts(run):
    found = json.loads(run("doctor", "--json").stdout)
    assert found["torch"] == torch.__version__
    assert found["executable"] == sys.executable
    assert found["threads"] == torch.get_num_threads()
    assert found["cores"] == len(os.sched_getaffinity(0))
    assert found["required"]["numpy"] == version("numpy")
    assert set(found["devices"]) >= {"cpu"}
    assert found["problems"] == []


def test_an_optional_part_that_is_missing_comes_with_its_command(run, packages):
    packages(always=[], view=[MISSING], dask=[Package("dask", "", "2026.8", True)])
    result = run("doctor")
    assert result.returncode == 0
    assert "missing: no-such-package; pip install 'gradsurge[view]' (gradsurge view)" in (
        result.stdout
    )
    assert "dask 2026.8" in result.stdout
    found = json.loads(run("doctor", "--json").stdout)["optional"]
    assert not found["view"]["complete"]
    assert found["dask"]["complete"]


def test_an_optional_part_that_is_too_old_says_so(run, packages):
    packages(always=[], dask=[Package("dask", ">=2024", "2020.1", False)])
    assert "missing: another dask than 2020.1; pip install" in run("doctor").stdout


def test_parts_for_contributors_are_not_missed(run, packages):
    packages(always=[], docs=[MISSING], dev=[MISSING])
    assert "no-such-package" not in run("doctor").stdout


def test_what_gradsurge_cannot_do_without_is_a_problem(run, packages):
    packages(always=[MISSING])
    result = run("doctor")
    assert result.returncode == 1
    assert result.stderr == (
        "gradsurge: problem: no-such-package is not installed, expected >=2: "
        "pip install 'no-such-package>=2'\n"
    )
    assert "0 of 1 packages" in result.stdout
    assert run("doctor", "--json").returncode == 1


def test_a_package_that_is_not_installed_at_all(run, monkeypatch):
    def nowhere(*_):
        raise PackageNotFoundError("gradsurge")

    monkeypatch.setattr(diagnosis, "required_packages", nowhere)
    result = run("doctor")
    assert result.returncode == 1
    assert "pip install -e" in result.stderr


def test_a_torch_that_cannot_be_imported_is_told_and_not_raised(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    result = run("doctor")
    assert result.returncode == 1
    assert result.stderr.startswith("gradsurge: problem: torch cannot be imported: ")
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("state", "found", "words"),
    [
        ("installed", 2, "9.9, finds nnUNetTrainerSurgery and nnUNetTrainerDiceSurgery"),
        ("other version", 1, "does not find nnUNetTrainerDiceSurgery: gradsurge nnunet install"),
        ("absent", 0, "find nnUNetTrainerSurgery and nnUNetTrainerDiceSurgery: gradsurge nnunet"),
    ],
)
def test_nnunet_and_our_trainers(run, monkeypatch, state, found, words):
    trainers = installing.TRAINERS[:found]
    there = installing.Status("9.9", Path("trainer.py"), state, False, trainers)
    monkeypatch.setattr(installing, "status", lambda _: there)
    monkeypatch.setenv("nnUNet_raw", "raw")
    monkeypatch.delenv("nnUNet_results", raising=False)
    said = run("doctor").stdout
    assert words in said
    assert "nnUNet_results" in said
    assert "nnUNet_raw," not in said


class FakeCuda:
    """A torch with two GPUs, or one that was built for CUDA and finds none."""

    __version__ = "9.9"

    def __init__(self, gpus):
        facts = type("Facts", (), {"name": "A100", "total_memory": 80 * 2**30})
        self.version = type("Version", (), {"cuda": "13.0"})
        self.cuda = type("Cuda", (), {
            "device_count": staticmethod(lambda: gpus),
            "is_available": staticmethod(lambda: gpus > 0),
            "get_device_properties": staticmethod(lambda _: facts),
        })  # fmt: skip
        self.backends = torch.backends

    def get_num_threads(self):
        return 10_000


def test_gpus_are_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", FakeCuda(2))
    found = machine.look_at_machine()
    assert found.devices["cuda:1"] == "A100, 80 GB"
    (note,) = found.notes
    assert f"set OMP_NUM_THREADS={machine.usable_cores()}" in note


def test_a_build_for_cuda_without_a_gpu_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", FakeCuda(0))
    found = machine.look_at_machine()
    assert list(found.devices) == ["cpu"]
    assert "CUDA 13.0 but finds no GPU" in found.notes[0]
