import sys
from typing import NamedTuple

import pytest

from gradsurge.cli import main


class Result(NamedTuple):
    """What subprocess.run would tell."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def run(capsys, monkeypatch):
    """The command in this process: what a new one needs to import takes seconds each time."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["gradsurge", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        return Result(end.value.code, *capsys.readouterr())

    return run
