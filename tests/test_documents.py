"""What the documents say is so: code runs, commands and options exist, links lead somewhere."""

import json
import re
import tomllib
from itertools import chain, pairwise
from statistics import mean
from typing import Literal, get_args, get_origin

import pytest
import typer.main

from gradsurge.cli import app
from tests.documents import DOCUMENTS, ROOT, commands, prose, python_blocks, said_to_print

PLACEHOLDER = re.compile(r"[A-Z_]+|\.\.\.")
NAMES = {str(document.relative_to(ROOT)): document for document in DOCUMENTS}


@pytest.fixture(params=NAMES)
def document(request):
    return NAMES[request.param]


def test_code_blocks_run(document, tmp_path, monkeypatch, capsys):
    """In order, one namespace a document, in an empty folder: a block may write a file."""
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {}
    for code, why_not in python_blocks(document):
        if not why_not:
            exec(compile(code, str(document), "exec"), namespace)
            printed = capsys.readouterr().out.splitlines()
            assert [line for line in said_to_print(code) if line not in printed] == []


def test_hardly_a_block_is_left_out():
    found = [why for document in DOCUMENTS for _, why in python_blocks(document)]
    assert len(found) >= 20
    assert len([why for why in found if why]) <= 2


def test_the_readme_has_code():
    assert len(python_blocks(ROOT / "README.md")) >= 4


def test_the_readme_is_short():
    lines = (ROOT / "README.md").read_text().splitlines()
    assert len(lines) <= 180
    assert {"## Two commands", "## One line changed", "## Results", "## Limits"} <= set(lines)


def find_command(words):
    """The command that these words call, and the options it takes with those of its groups."""
    command, options, rest = typer.main.get_command(app), set(), list(words)
    while True:
        options |= {name for p in command.params for name in (*p.opts, *p.secondary_opts)}
        options |= {"--help", "-h"}
        below = getattr(command, "commands", None)
        if below is None or not rest or rest[0].startswith("-") or PLACEHOLDER.fullmatch(rest[0]):
            return command, options, rest
        if rest[0] not in below and command.name == "search":  # runs unless told otherwise
            rest.insert(0, "run")
        assert rest[0] in below, f"no such command: {rest[0]}"
        command = below[rest.pop(0)]


def choices_of(command, option):
    """What an option takes, if that is one of a few words."""
    for parameter in command.params:
        annotation = parameter.type_descriptor.annotation
        if option in parameter.opts and get_origin(annotation) is Literal:
            return get_args(annotation)
    return ()


def test_every_command_and_option_exists(document):
    for words in commands(document):
        command, options, rest = find_command(words)
        typed = {word.partition("=")[0] for word in rest if word.startswith("-")}
        unknown = {word for word in typed - options if not re.fullmatch(r"-[\d.]+|-j\d+", word)}
        assert not unknown, f"gradsurge {' '.join(words)}: no such option: {unknown}"
        for name, value in pairwise(chain(*(word.split("=", 1) for word in rest))):
            allowed = choices_of(command, name)
            assert not allowed or PLACEHOLDER.fullmatch(value) or value in allowed, (
                f"{name} {value}"
            )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```\ngradsurge demo   # minutes\n```\n", [["demo"]]),
        ("```console\n$ gradsurge show a \\\n    b --out c.pdf\nWritten: c.pdf\n```\n", [
            ["show", "a", "b", "--out", "c.pdf"]
        ]),
        ("```bash\nsrun gradsurge train S --resume || exit\n```\n", [["train", "S", "--resume"]]),
        ('```bash\neval "$(gradsurge nnunet install --print-env)"\n```\n', [
            ["nnunet", "install", "--print-env"]
        ]),
        ("```\ntorchrun -m gradsurge train S\n```\n", [["train", "S"]]),
        ("so `gradsurge recalibrate fit\nisotonic ...` it\n", [
            ["recalibrate", "fit", "isotonic", "..."]
        ]),
        ("```python\nimport gradsurge as gs\n```\n", []),
        ("```python\nx\n```\nafter `pip install x && gradsurge demo`:\n```\nls\n```\n", [["demo"]]),
    ],
)  # fmt: skip
def test_commands_are_found(tmp_path, text, expected):
    file = tmp_path / "page.md"
    file.write_text(text)
    assert commands(file) == expected


def test_a_wrong_command_and_a_wrong_option_are_noticed():
    with pytest.raises(AssertionError, match="no such command: trian"):
        find_command(["trian", "store"])
    _, options, _ = find_command(["train", "STORE", "--lose", "dice"])
    assert "--loss" in options
    assert "--lose" not in options


def test_the_documents_have_commands():
    assert sum(len(commands(document)) for document in DOCUMENTS) >= 80


def test_local_links_and_pictures_exist(document):
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", document.read_text())
    local = [t for t in targets if "://" not in t]
    missing = [t for t in local if not (document.parent / t).exists()]
    assert not missing


def test_paragraphs_of_lists_stay_in_their_lists(document):
    # The site wants four spaces: with fewer the list ends there, and swallows its next point.
    assert not re.findall(r"\n\n {1,3}\S.*", prose(document))
    # After such a paragraph the next point wants an empty line before it.
    assert not re.findall(r"\n {4}\S.*\n- .*", prose(document))


def test_no_line_of_prose_begins_a_point_by_chance(document):
    # "CE" at the end of a line and "+ Dice" on the next make two points of one.
    assert not re.findall(r"(?m)^ *\+ .*", prose(document))
    assert not re.findall(r"(?m)[.:] - \*\*.*", prose(document))


def test_extras_that_are_named_exist(document):
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = re.findall(r"(?:gradsurge|\.whl|'\.)\[([a-z,]+)\]", document.read_text())
    assert {extra for names in named for extra in names.split(",")} <= set(known)


def record(name):
    return json.loads((ROOT / "docs" / "results" / f"{name}-speed.json").read_text())


def ratios_of_the_records():
    """What the table of speeds in the README says, row by row."""
    loss = record("surgery")["ms"]
    fused = loss["ours, fused (dice-surgery)"]
    yield f"{loss['listing + MONAI DiceLoss'] / fused:.1f}"
    yield f"{loss['MONAI DiceLoss, no surgery'] / fused:.1f}"
    for kind in ("lesion", "organ"):
        ms = record("calibration")["volumes"][kind]["ms"]
        yield f"{ms['MONAI CalibrationErrorMetric: ECE'] / next(iter(ms.values())):.1f}"
    race = record("training")["nnunet"]["races"]["plain"]
    yield f"{race['steps_a_second_ratio']:.2f}"
    ours, theirs = race["seconds_to_goal"]
    yield f"{theirs / ours:.2f}"
    seconds = {
        name: mean(times) for name, times in record("training")["windows"]["seconds"].items()
    }
    for batch, own in ((1, ""), (4, ", batch=4")):
        ratio = (
            seconds[f"MONAI, sw_batch_size={batch}"] / seconds[f"ours: sliding_window_logits{own}"]
        )
        yield f"{ratio:.2f}"


def test_speeds_are_those_of_the_records():
    text = (ROOT / "README.md").read_text()
    rows = re.findall(r"^\|.*\| ([\d.]+; [\d.]+) \|$", text, re.MULTILINE)
    assert "; ".join(rows).split("; ") == list(ratios_of_the_records())


def test_milliseconds_of_the_losses_are_those_of_the_record():
    page = (ROOT / "docs" / "speed.md").read_text().split("## The loss of many classes")[0]
    shown = re.findall(r"^\| [^|]+ \| \**([\d.]+)\** \|", page, re.MULTILINE)
    measured = record("surgery")["ms"].values()
    assert len(shown) == 8
    assert set(shown) <= {f"{ms:.{digits}f}" for ms in measured for digits in (0, 1)}


def test_milliseconds_of_many_classes_are_those_of_the_record():
    page = (ROOT / "docs" / "speed.md").read_text()
    shown = re.findall(r"^\| (\d+ classes, [\dx]+) \| (.*) \|$", page, re.MULTILINE)
    measured = record("many-classes")["ms"]
    assert [name for name, _ in shown] == list(measured)
    for name, cells in shown:
        *times, ratio = cells.split(" | ")
        ms = list(measured[name].values())
        assert [f"{ms[0] / ms[-1]:.2f}"] == [ratio]
        pairs = zip(times, ms, strict=True)
        assert all(time in (f"{found:.0f}", f"{found:.1f}") for time, found in pairs)
