"""The module in nnU-Net's folder of trainers: written once, found by nnU-Net, removed again."""

import importlib
import os
import sys

import pytest

import gradsurge.integrations.nnunet as nnunet_package
from gradsurge.experiments.nnunet import installing
from gradsurge.integrations.nnunet.trainer import DEFAULT_LOSSES


@pytest.fixture
def nnunet(tmp_path, monkeypatch):
    """A package with nnU-Net's name and folders, which would not survive being imported."""
    trainers = tmp_path / "nnunetv2" / "training" / "nnUNetTrainer"
    trainers.mkdir(parents=True)
    (tmp_path / "nnunetv2" / "__init__.py").write_text("raise RuntimeError('imported')")
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    return trainers


def test_installing_twice_writes_once(nnunet):
    file, written = installing.install()
    assert (file, written) == (nnunet / "nnUNetTrainerSurgery.py", True)
    stamp = file.stat().st_mtime_ns
    assert installing.install() == (file, False)
    assert file.stat().st_mtime_ns == stamp
    assert [f.name for f in nnunet.iterdir()] == [file.name]  # nothing half written beside


def test_uninstalling_removes_it_and_says_if_there_was_none(nnunet):
    installing.install()
    assert installing.uninstall() == (nnunet / "nnUNetTrainerSurgery.py", True)
    assert list(nnunet.iterdir()) == []
    assert installing.uninstall()[1] is False


def test_status_follows(nnunet):
    assert installing.status({}).state == "absent"
    assert not installing.status({}).found
    file, _ = installing.install()
    assert installing.status({}).state == "installed"
    file.write_text('"""Written by gradsurge nnunet install, long ago."""')
    assert installing.status({}).state == "other version"
    assert not installing.status({}).found
    assert installing.install() == (file, True)  # brought up to date
    file.write_text("class nnUNetTrainerSurgery: ...")
    assert installing.status({}).state == "not ours"


def an_old_module(nnunet):
    file = nnunet / "nnUNetTrainerSurgery.py"
    file.write_text('"""Written by gradsurge nnunet install: nnUNetTrainerSurgery alone."""')
    return file


def test_an_old_gradsurge_had_one_trainer_and_installing_again_brings_the_other(nnunet):
    file = an_old_module(nnunet)
    assert installing.status({}).trainers == ("nnUNetTrainerSurgery",)
    assert installing.status({}).missing == ["nnUNetTrainerDiceSurgery"]
    assert installing.install() == (file, True)
    assert installing.status({}).trainers == installing.TRAINERS
    assert installing.status({}).found


def test_what_an_old_gradsurge_installed_is_removed(nnunet):
    an_old_module(nnunet)
    assert installing.uninstall()[1]
    assert list(nnunet.iterdir()) == []


def test_a_file_of_somebody_else_stays(nnunet):
    theirs = nnunet / "nnUNetTrainerSurgery.py"
    theirs.write_text("class nnUNetTrainerSurgery: ...")
    for act in (installing.install, installing.uninstall):
        with pytest.raises(ValueError, match="not of gradsurge"):
            act()
    assert theirs.read_text() == "class nnUNetTrainerSurgery: ..."


def test_the_variable_does_the_same_and_keeps_other_folders(nnunet):
    value = installing.extended_variable({"nnUNet_extTrainer": f"/a{os.pathsep}/b"})
    assert value.split(os.pathsep)[:2] == ["/a", "/b"]
    environment = {"nnUNet_extTrainer": value}
    assert installing.status(environment).found
    assert installing.extended_variable(environment) == value


def test_the_folder_of_the_variable_holds_that_one_module():
    # nnU-Net imports every module it finds there, under its bare name.
    folder = installing.trainer_folder()
    names = {f.name for f in folder.iterdir() if f.suffix == ".py"} - {"__init__.py"}
    assert names == {"nnUNetTrainerSurgery.py"}


def test_without_nnunet_it_says_what_to_do(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    for act in (installing.install, installing.uninstall, lambda: installing.status({})):
        with pytest.raises(ValueError, match="pip install 'gradsurge"):
            act()


def test_another_build_of_nnunet_is_named(nnunet):
    nnunet.rmdir()
    with pytest.raises(ValueError, match="expected nnU-Net's folder of trainers there"):
        installing.install()


@pytest.mark.parametrize(
    ("version", "fine"), [("2.8.1", True), ("3.0", True), ("2.10", True), ("2.6.2", False)]
)
def test_an_old_nnunet_is_told_at_once(nnunet, monkeypatch, version, fine):
    monkeypatch.setattr(installing, "version", lambda name: version)
    if fine:
        assert installing.install()[1]
        return
    for act in (installing.install, lambda: installing.status({})):
        with pytest.raises(ValueError, match=r"nnU-Net 2\.6\.2 is too old"):
            act()
    assert list(nnunet.iterdir()) == []


def load_module(monkeypatch, name="nnUNetTrainerSurgery"):
    monkeypatch.syspath_prepend(str(installing.trainer_folder()))
    monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module(name)


def test_a_search_for_other_trainers_passes_by_without_touching_gradsurge(monkeypatch):
    monkeypatch.setitem(sys.modules, "gradsurge", None)  # importing it would fail
    module = load_module(monkeypatch)
    assert not hasattr(module, "nnUNetTrainerDA5")


def test_module_package_and_installation_know_the_same_trainers(monkeypatch):
    assert load_module(monkeypatch)._NAMES == installing.TRAINERS
    assert set(installing.TRAINERS) == set(DEFAULT_LOSSES) < set(nnunet_package.__all__)


@pytest.mark.parametrize("name", installing.TRAINERS)
def test_where_gradsurge_is_missing_the_error_says_what_to_install(monkeypatch, name):
    module = load_module(monkeypatch)
    for loaded in [n for n in sys.modules if n.split(".")[0] == "gradsurge"]:
        monkeypatch.delitem(sys.modules, loaded)
    monkeypatch.setitem(sys.modules, "gradsurge", None)
    with pytest.raises(ImportError, match=rf"{name} needs .*pip install 'gradsurge\[nnunet\]'"):
        getattr(module, name)


@pytest.mark.parametrize("name", installing.TRAINERS)
def test_where_nnunet_is_missing_the_error_says_what_to_install(monkeypatch, name):
    monkeypatch.setitem(sys.modules, "nnunetv2", None)
    module = load_module(monkeypatch)
    with pytest.raises(ImportError, match=rf"{name} needs nnU-Net 2\.8 or later"):
        getattr(module, name)
