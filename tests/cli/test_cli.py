"""The command as a user meets it: real processes, exit codes, what is printed and written."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import typer.main

from gradsurge.cli import app

MODULE = (sys.executable, "-m", "gradsurge")
SCRIPT = (str(Path(sys.executable).with_name("gradsurge")),)


def run(*arguments, command=MODULE):
    return subprocess.run(
        [*command, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=300
    )


def assert_one_line_error(result, code, *words):
    assert result.returncode == code
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("gradsurge: error: ")
    for word in words:
        assert word in line


@pytest.mark.parametrize("command", [MODULE, SCRIPT])
def test_help_lists_the_commands(command):
    result = run("--help", command=command)
    assert result.returncode == 0
    assert "Usage: gradsurge" in result.stdout
    assert "demo" in result.stdout
    assert "figures" in result.stdout


@pytest.mark.parametrize("arguments", [("demo",), ("figures",), ("figures", "theory")])
def test_every_command_has_help(arguments):
    result = run(*arguments, "--help")
    assert result.returncode == 0
    assert f"Usage: gradsurge {' '.join(arguments)}" in result.stdout


def test_without_a_command_the_help_is_shown_as_bad_usage():
    result = run()
    assert result.returncode == 2
    assert "Usage: gradsurge" in result.stdout


def test_version():
    result = run("--version")
    assert result.returncode == 0
    assert result.stdout.startswith("gradsurge ")


def test_the_command_line_loads_nothing_heavy():
    code = (
        "import sys, gradsurge.cli;"
        "heavy = {'torch', 'matplotlib', 'numpy'} & sys.modules.keys();"
        "sys.exit(len(heavy))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_figures_theory_writes_what_it_prints(tmp_path):
    result = run("figures", "theory", "--out", tmp_path)
    assert result.returncode == 0, result.stderr
    printed = {line for line in result.stdout.splitlines() if not line.startswith(" ")}
    assert printed == {str(f) for f in tmp_path.iterdir()}
    assert len(printed) == 8
    assert "p where the pulls balance" in result.stdout


def test_figures_theory_json_and_one_format(tmp_path):
    result = run("figures", "theory", "--out", tmp_path, "--format", "png", "--json")
    assert result.returncode == 0, result.stderr
    entries = json.loads(result.stdout)
    assert [f for e in entries for f in e["files"]] == [
        str(tmp_path / f"{e['figure']}.png") for e in entries
    ]
    assert all(e["numbers"] for e in entries)
    assert {f.suffix for f in tmp_path.iterdir()} == {".png"}


@pytest.mark.parametrize("arguments", [("demo",), ("figures", "theory")])
def test_out_must_not_be_a_file(tmp_path, arguments):
    file = tmp_path / "taken"
    file.write_text("mine")
    assert_one_line_error(run(*arguments, "--out", file), 2, "--out", "directory", str(file))
    assert_one_line_error(run(*arguments, "--out", file / "below"), 2, "--out", str(file))
    assert file.read_text() == "mine"


def test_a_file_that_cannot_be_written_is_a_failure_in_one_line(tmp_path):
    (tmp_path / "partials.png").mkdir()
    result = run("figures", "theory", "--format", "png", "--out", tmp_path)
    assert_one_line_error(result, 1, "partials.png")


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("nope",), "nope"),
        (("demo", "--nope"), "--nope"),
        (("demo", "extra"), "extra"),
        (("figures",), "command"),
        (("figures", "nope"), "nope"),
        (("figures", "theory", "--format", "gif"), "gif"),
    ],
)
def test_bad_usage_is_one_line(arguments, word):
    assert_one_line_error(run(*arguments), 2, word, "--help")


def helps(command):
    yield command.help or ""
    for below in getattr(command, "commands", {}).values():
        yield from helps(below)


def test_the_terminal_folds_help_and_the_sources_do_not():
    found = list(helps(typer.main.get_command(app)))
    assert sum("\n\n" in text for text in found) > 10
    for text in found:
        folded = [part for part in text.split("\n\n") if not part.startswith("\b")]
        assert not any("\n" in part for part in folded), text
