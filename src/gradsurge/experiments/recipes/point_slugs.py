"""Points as names of folders: the same point, the same name; another point, another one."""

import hashlib
from collections.abc import Mapping
from typing import Any

from gradsurge.experiments.recipes.requests import SEED

_SHORT = {"training.learning_rate": "lr", "training.weight_decay": "wd"}
_LONGEST = 100  # some file systems stop at 143 characters


def point_slug(point: Mapping[str, Any]) -> str:
    """Return a name for a point, safe on any file system; seed 0 is not told.

    >>> point_slug({"training.learning_rate": 3e-3})
    'lr0.003'
    >>> point_slug({"training.seed": 1, "loss.a": 0.3, "training.learning_rate": 0.01})
    'lr0.01_a0.3_seed1'
    >>> point_slug({})
    'fixed'
    """
    told = {name: value for name, value in point.items() if name != SEED}
    parts = [f"{_short(name)}{_value(told[name])}" for name in sorted(told, key=_order)]
    if not parts:
        parts = ["fixed"]
    if point.get(SEED, 0) != 0:
        parts.append(f"seed{point[SEED]}")
    slug = "_".join(parts)
    if len(slug) <= _LONGEST:
        return slug
    return f"{slug[:80]}~{hashlib.sha256(slug.encode()).hexdigest()[:16]}"


def _order(name: str) -> tuple[bool, bool, str]:
    return name not in _SHORT, not name.startswith("training."), name


def _short(name: str) -> str:
    part, _, rest = name.partition(".")
    # What follows is a number: it must not run into one that ends the name.
    plain = (rest if part in ("training", "loss") else name).replace("_", "-")
    return _SHORT.get(name, f"{plain}~" if plain[-1:].isdigit() else plain)


def _value(value: Any) -> str:
    """Return a number as it is, a text after "=", a list after commas, other words after "~"."""
    if isinstance(value, str):
        return "=" + "".join(_letter(letter) for letter in value)
    if isinstance(value, list | tuple):
        return "".join(f",{_value(item)}" for item in value)
    if value is None or isinstance(value, bool):
        return f"~{str(value).lower()}"
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # 1.0 is the point 1
    return repr(value)


def _letter(letter: str) -> str:
    if letter.isascii() and (letter.islower() or letter.isdigit()):
        return letter
    return f"~{ord(letter):x}."  # capitals too: not every file system tells them apart
