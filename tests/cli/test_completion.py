"""The tabulator key: what a shell is offered, asked as bash, zsh and fish ask."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

from gradsurge.cli import completion, main
from gradsurge.data.datasets import DATASETS
from gradsurge.data.phantoms import PHANTOMS
from gradsurge.experiments.evaluation.settings import Region
from gradsurge.experiments.recipes import TABLES, shipped_recipes
from gradsurge.losses import LOSSES
from gradsurge.models import MODELS

SCRIPTS = Path(sys.executable).parent


@pytest.mark.parametrize(
    ("offered", "known"),
    [
        (completion.LOSSES, LOSSES),
        (completion.RECIPES, shipped_recipes()),
        (completion.DATASETS, DATASETS),
        (completion.PHANTOMS, PHANTOMS),
        (completion.MODELS, MODELS),
        (completion.REGIONS, get_args(Region)),
        (completion.TABLES, TABLES),
    ],
    ids=["losses", "recipes", "data sets", "phantoms", "models", "regions", "tables"],
)
def test_what_is_offered_is_what_is_known(offered, known):
    assert set(offered) == set(known)


def ask(shell, line, monkeypatch, capsys):
    """Answer as the script of that shell asks, in this process."""
    words = line.split(" ")
    monkeypatch.setenv("_GRADSURGE_COMPLETE", f"complete_{shell}")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", line)
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    monkeypatch.setattr(sys, "argv", ["gradsurge"])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("gradsurge tra", {"train"}),
        ("gradsurge doc", {"doctor"}),
        ("gradsurge train store --loss dice", {"dice", "dice++", "dice-surgery"}),
        ("gradsurge train store --preset pa", {"paper-2d", "paper-3d"}),
        ("gradsurge train store --model primus-", {f"primus-{size}" for size in "sbml"}),
        ("gradsurge train store --surgery-", {"--surgery-start", "--surgery-ramp"}),
        ("gradsurge reproduce isl", {"isles", "isles-narrow"}),
        ("gradsurge reproduce isles --losses ce,tversky-", {"ce,tversky-surgery"}),
        ("gradsurge reproduce isles --table sh", {"shift"}),
        ("gradsurge search f", {"fives"}),
        ("gradsurge search sta", {"status"}),
        ("gradsurge prepare lesions", {"lesions-2d", "lesions-3d"}),
        ("gradsurge evaluate a b --region a", {"all", "active"}),
        ("gradsurge recalibrate fit te", {"temperature"}),
        ("gradsurge figures ph", {"phantoms"}),
    ],
)
def test_bash_is_offered(line, expected, monkeypatch, capsys):
    assert set(ask("bash", line, monkeypatch, capsys).split()) == expected


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_zsh_and_fish_are_offered_the_same(shell, monkeypatch, capsys):
    said = ask(shell, "gradsurge train store --loss tversky-s", monkeypatch, capsys)
    assert "tversky-surgery" in said
    assert "ce+tversky" not in said


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_gets_its_script(shell, monkeypatch, capsys):
    monkeypatch.setenv("_GRADSURGE_COMPLETE", f"source_{shell}")
    monkeypatch.setattr(sys, "argv", ["gradsurge"])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 0
    assert f"_GRADSURGE_COMPLETE=complete_{shell}" in capsys.readouterr().out


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")
def test_a_real_bash_completes_with_the_script_it_is_given():
    script = (
        'eval "$(_GRADSURGE_COMPLETE=source_bash gradsurge)"\n'
        "complete -p gradsurge\n"
        "COMP_WORDS=(gradsurge train store --loss ce+dice-) COMP_CWORD=4\n"
        '_gradsurge_completion gradsurge && echo "${COMPREPLY[@]}"'
    )
    path = os.pathsep.join((str(SCRIPTS), os.environ["PATH"]))
    result = subprocess.run(
        ["bash", "--norc", "-c", script],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    registered, offered = result.stdout.splitlines()
    assert registered.endswith("gradsurge")
    assert offered == "ce+dice-surgery"
