"""A recalibration as JSON: a few lines that a person can read, and never half a file."""

import json
import math
import os
from os import PathLike
from pathlib import Path
from typing import Any

VERSION = 1
FORMAT = "gradsurge recalibration"
FACTS = ("kind", "classes", "fitted_on", "voxels", "at_bound", "note")
_TYPES: dict[str, tuple[type, ...]] = {
    "method": (str,),
    "kind": (str,),
    "classes": (int,),
    "fitted_on": (str,),
    "voxels": (int,),
    "at_bound": (bool,),
    "note": (str, type(None)),
    "parameters": (dict,),
}


def write(
    file: str | PathLike[str], method: str, facts: dict[str, Any], parameters: dict[str, Any]
) -> None:
    """Write beside the file, then rename."""
    content = {"format": FORMAT, "version": VERSION, "method": method, **facts}
    content["parameters"] = parameters
    path = Path(file)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        beside.write_text(json.dumps(content, indent=2, allow_nan=False) + "\n", encoding="utf-8")
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def read(file: str | PathLike[str]) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """Return method, facts and parameters of a file, of the right types.

    Raises:
        ValueError: if it is no such file; the message does not name it yet.
    """
    content = json.loads(Path(file).read_text(encoding="utf-8"), parse_constant=_refuse)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"expected an object with format {FORMAT!r}")
    if content.get("version") != VERSION:
        raise ValueError(f"version {content.get('version')!r}, this gradsurge reads {VERSION}")
    for name, types in _TYPES.items():
        found = content.get(name, ...)
        if not isinstance(found, types) or (isinstance(found, bool) and bool not in types):
            shown = "nothing" if found is ... else repr(found)[:40]
            raise ValueError(f"{name}: expected {types[0].__name__}, got {shown}")
    return content["method"], {name: content[name] for name in FACTS}, content["parameters"]


def numbers(parameters: dict[str, Any], name: str) -> tuple[float, ...]:
    """Return a list of numbers of the parameters.

    Raises:
        ValueError: if it is missing or something else.
    """
    found = parameters.get(name)
    if not isinstance(found, list) or not all(_is_number(v) for v in found):
        raise ValueError(f"{name}: expected a list of finite numbers, got {found!r:.60}")
    return tuple(float(v) for v in found)


def number_lists(parameters: dict[str, Any], name: str) -> tuple[tuple[float, ...], ...]:
    """Return a list of lists of numbers of the parameters, or raise as `numbers` does."""
    found = parameters.get(name)
    if not isinstance(found, list):
        raise ValueError(f"{name}: expected a list of lists, got {found!r:.60}")
    return tuple(numbers({name: row}, name) for row in found)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no parameter")
