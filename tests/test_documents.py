"""What the documents say is so: code runs, commands and options exist, links lead somewhere."""

import re
from itertools import chain, pairwise
from typing import Literal, get_args, get_origin

import pytest
import typer.main

from gradsurge.cli import app
from tests.documents import DOCUMENTS, ROOT, commands, python_blocks, said_to_print

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
