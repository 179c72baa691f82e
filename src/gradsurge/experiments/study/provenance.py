"""Where a number comes from: commit, date, machine, versions, command."""

import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import numpy as np
import torch

import gradsurge
from gradsurge.experiments.search import shown_storage


def provenance(arguments: Sequence[str] | None = None) -> dict[str, str]:
    """Return what tells how a number came about; no name of a machine or a user is in it.

    Args:
        arguments: of the command line; those of this process if None.
    """
    typed = sys.argv if arguments is None else arguments
    return {
        "gradsurge": gradsurge.__version__,
        "commit": commit(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "command": shlex.join(["gradsurge", *map(_without_password, typed[1:])]),
    }


@cache
def commit() -> str:
    """Return the commit of the sources that run, with "+" where they were changed since.

    Looked up once, so that what somebody commits while runs last is not taken for theirs.
    """
    file = Path(gradsurge.__file__)
    folder = file.parent
    try:
        # Installed sources may lie in somebody else's repository, which does not track them.
        _git(folder, "ls-files", "--error-unmatch", "--", file.name)
        head = _git(folder, "rev-parse", "--short=12", "HEAD")
        changed = _git(folder, "status", "--porcelain", "--untracked-files=no", "--", ".")
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return f"{head}+" if changed else head


def machine() -> str:
    """Return kind, processor, cores and accelerator."""
    parts = [platform.system(), _processor() or platform.machine(), f"{os.cpu_count()} cores"]
    if torch.cuda.is_available():
        parts.append(torch.cuda.get_device_name(0))
    return ", ".join(parts)


def _without_password(word: str) -> str:
    """Return a word of a command as it may be kept.

    >>> _without_password("--storage=postgresql://ann:secret@server/studies")
    '--storage=postgresql://ann:***@server/studies'
    """
    flag, equals, value = word.partition("=") if word.startswith("--") else ("", "", word)
    return f"{flag}{equals}{shown_storage(value)}" if "://" in value else word


def _git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), *words], capture_output=True, text=True, check=True, timeout=10
    )
    return done.stdout.strip()


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else ""
