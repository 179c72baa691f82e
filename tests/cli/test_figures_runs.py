"""``gradsurge figures gradients``, ``maps`` and ``curves`` as a user types them."""

import json

import pytest

from tests.experiments.figure_data.tiny_runs import phantom_store, tiny_run
from tests.report.figures.files import assert_opens


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A store of pictures with a run by SGD and one by AdamW."""
    folder = tmp_path_factory.mktemp("figures")
    store = phantom_store(folder / "store", "vessels-2d", (48, 48), cases=6)
    tiny_run(store, folder / "dice", optimiser="sgd", momentum=0.9)
    tiny_run(store, folder / "surgery", "dice-surgery", optimiser="adamw")
    return folder


def one_line(result, code, *words):
    assert result.returncode == code, result
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("gradsurge: error: ")
    for word in words:
        assert word in line


def files_of(out, name):
    return out / f"{name}.pdf", out / f"{name}.png"


def test_the_help_tells_which_command_draws_which_figure(run):
    result = run("figures", "--help")
    assert result.returncode == 0
    for number, command in enumerate(
        ("theory", "gradients", "maps", "theory", "curves", "theory", "maps"), start=1
    ):
        (line,) = [x for x in result.stdout.splitlines() if f" Figure {number}  " in x]
        assert command in line
    for command in ("gradients", "maps", "curves", "study", "theory"):
        assert run("figures", command, "--help").returncode == 0


def test_gradients(run, folder, tmp_path):
    result = run("figures", "gradients", folder / "dice", folder / "store", "--out", tmp_path)
    assert result.returncode == 0, result.stderr
    assert_opens(files_of(tmp_path, "gradients"))
    assert str(tmp_path / "gradients.pdf") in result.stdout.replace("\n", "")
    assert "Dice surgery: mean share of the largest gradient" in result.stdout


def test_maps_of_named_cases_and_corrected(run, folder, tmp_path):
    from gradsurge.data.store import Store

    case = Store.open(folder / "store").splits["validation"][0]
    result = run(
        *("figures", "maps", folder / "store", folder / "dice", folder / "surgery"),
        *("--case", case, "--correction", "auto", "--out", tmp_path, "--json"),
    )
    assert result.returncode == 0, result.stderr
    assert list(json.loads(result.stdout)["figures"]) == ["maps", "examples"]
    for name in ("maps", "examples"):
        assert_opens(files_of(tmp_path, name))


def test_curves_are_in_a_column_an_optimiser(run, folder, tmp_path):
    result = run("figures", "curves", folder / "dice", folder / "surgery", "--out", tmp_path)
    assert result.returncode == 0, result.stderr
    assert_opens(files_of(tmp_path, "curves"))
    assert "dice (dice), SGD + Nesterov momentum: last validation Dice" in result.stdout
    assert "surgery (dice-surgery), AdamW: last validation NLL" in result.stdout


def test_mistakes_are_one_line(run, folder, tmp_path):
    store, dice = folder / "store", folder / "dice"
    nowhere = tmp_path / "nowhere"
    one_line(run("figures", "gradients", nowhere, store), 1, "not a run")
    one_line(run("figures", "gradients", dice, nowhere), 1, "not a store")
    one_line(run("figures", "gradients", dice, store, "--case", "x"), 1, "has no 'x'")
    one_line(run("figures", "gradients", dice, store, "--slice", 3), 1, "pictures")
    one_line(run("figures", "maps", store, dice, "--structure", "x"), 1, "no 'x' here")
    one_line(run("figures", "maps", store, dice, "--correction", "equilibrium"), 1, "surgery loss")
    one_line(run("figures", "maps", store, dice, "--correction", "x"), 2, "--correction")
    one_line(run("figures", "curves", nowhere), 1, "not a run")
    one_line(run("figures", "curves", dice, "--out", dice / "config.json"), 2, "is a file")
    one_line(run("figures", "maps", store), 2, "RUN")
    other = phantom_store(tmp_path / "other", cases=6)
    one_line(run("figures", "maps", other.path, dice), 1, "another kind of store")
