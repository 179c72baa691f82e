"""Our JSON files: written beside and renamed, read with a format and a version."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from gradsurge.data.case_error import shown

VERSION = 1  # of the store: layout, case.json and dataset.json together


def write_json(file: Path, kind: str, content: dict[str, Any]) -> None:
    """Write a file of one of our kinds."""
    replace_json(file, {"format": kind, "version": VERSION, **content})


def replace_json(file: Path, content: object) -> None:
    """Write any JSON; a reader sees the old file or the new one, never half of it."""
    text = json.dumps(content, indent=1, allow_nan=False, default=_plain)
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        beside.write_text(text + "\n", encoding="utf-8")
        beside.replace(file)
    finally:
        beside.unlink(missing_ok=True)


def read_json(file: Path, kind: str) -> dict[str, Any]:
    """Return the content of such a file.

    Raises:
        FileNotFoundError: there is none.
        ValueError: it is something else, damaged, or of another version.
    """
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"{shown(file)}: damaged ({error})") from error
    if not isinstance(content, dict) or content.get("format") != kind:
        raise ValueError(f"{shown(file)}: not a {kind}")
    if content.get("version") != VERSION:
        raise ValueError(
            f"{shown(file)}: version {content.get('version')!r}, this gradsurge reads {VERSION}; "
            f"prepare the data anew, or use the gradsurge that wrote it"
        )
    return content


def remove_halves(folder: Path) -> None:
    """Remove files that a killed run did not come to rename."""
    for file in folder.glob(".*.json.*"):
        file.unlink(missing_ok=True)


def _plain(value: object) -> object:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"expected plain numbers, text and lists, got {type(value).__name__}")
