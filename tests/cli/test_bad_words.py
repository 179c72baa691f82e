"""What was typed and names nothing is bad usage, exit code 2; what fails for other reasons is 1."""

import pytest

REPRODUCE = [
    (["fivez"], 2, "recipe: unknown 'fivez'"),
    (["nowhere.toml"], 2, "nowhere.toml: no such recipe file"),
    (["fives", "--table", "9"], 2, "no table '9'; there are: 1"),
    (["fives", "--losses", "dcie"], 2, "no loss 'dcie'; there are: ce"),
    (["fives", "--table", "3", "--losses", "ce"], 2, "none of the tables 3 has a row of ce"),
    (["fives", "--store", "a", "--data", "b"], 2, "--store and --data: give one"),
    (["broken.toml"], 1, "broken.toml: "),
    (["phantoms", "--store", "nowhere"], 1, "nowhere: not a store"),
    (["chase", "--data", "nowhere"], 1, "nowhere"),
]
SEARCH = [
    (["fivez", "--loss", "dice"], 2, "recipe: unknown 'fivez'"),
    (["fives", "--loss", "dcie"], 2, "no variant 'dcie'"),
    (["fives", "--loss", "dice", "--store", "a", "--data", "b"], 2, "--store and --data: give one"),
    (["fives", "--loss", "dice"], 1, "fives: no data; give --data RAW or --store STORE"),
    (["phantoms", "--loss", "ce.short"], 1, "takes the point of ce"),
    (["phantoms", "--loss", "ce", "--trials", "9"], 1, "trials: phantoms tries the 2 points"),
]
COMMANDS = [
    *(("reproduce", *case) for case in REPRODUCE),
    *(("search", *case) for case in SEARCH),
    ("train", ["nowhere", "--loss", "dcie", "--out", "run"], 2, "--loss: unknown 'dcie'"),
    ("train", ["nowhere", "--loss", "dice", "--out", "run"], 1, "nowhere: not a store"),
]


@pytest.mark.parametrize(("command", "words", "code", "said"), COMMANDS)
def test_one_line_and_nothing_left_behind(run, tmp_path, monkeypatch, command, words, code, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.toml").write_text("title = ")
    scale = [] if command == "train" else ["--scale", "smoke"]
    result = run(command, *words, *scale)
    assert result.returncode == code, result
    (line,) = result.stderr.splitlines()
    assert line.startswith("gradsurge: error: ")
    assert said in line
    assert [file.name for file in tmp_path.iterdir()] == ["broken.toml"]
