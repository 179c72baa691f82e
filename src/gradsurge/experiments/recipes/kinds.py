"""Kinds of values: what a recipe says, against the annotation of the argument that it is for."""

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

_WORDS: dict[Any, str] = {
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    str: "a text",
    Path: "a text",
    Mapping: "a table",
}


def kinds_of(made: Callable[..., Any], *but: str) -> dict[str, Any]:
    """Return argument -> annotation of a class or a function, without some.

    >>> def draw(size: int, share: float = 0.5) -> None: ...
    >>> kinds_of(draw, "size")
    {'share': <class 'float'>}
    """
    parameters = inspect.signature(made, eval_str=True).parameters
    return {name: one.annotation for name, one in parameters.items() if name not in but}


def fits(value: object, kind: Any) -> bool:
    """Tell whether a value of TOML is of a kind: lists stand for tuples, texts for paths.

    >>> fits([1, 0.5], tuple[float, float]), fits(True, int | None), fits("x", Literal["x", "y"])
    (True, False, True)
    """
    origin, inner = get_origin(kind) or kind, get_args(kind)
    if origin in (Union, UnionType):
        return any(fits(value, one) for one in inner)
    if origin is Literal:
        return any(type(value) is type(one) and value == one for one in inner)
    if origin in (tuple, Sequence):
        if not isinstance(value, list | tuple):
            return False
        each = inner if _counted(origin, inner) else inner[:1] * len(value)
        return len(value) == len(each) and all(map(fits, value, each))
    if kind in (int, float):
        return is_whole(value) if kind is int else is_number(value)
    return isinstance(value, str if kind is Path else origin)


def described(kind: Any) -> str:
    """Return a kind in words; nothing for one that TOML has not.

    >>> described(Sequence[float] | Literal["median"] | None)
    "a list of numbers or 'median'"
    >>> described(tuple[float, float])
    'a list of 2 numbers'
    """
    origin, inner = get_origin(kind) or kind, get_args(kind)
    if origin in (Union, UnionType):
        return " or ".join(filter(None, map(described, inner)))
    if origin is Literal:
        return " or ".join(map(repr, inner))
    if origin in (tuple, Sequence):
        count = f"{len(inner)} " if _counted(origin, inner) else ""
        return f"a list of {count}{described(inner[0]).removeprefix('a ')}s"
    return _WORDS.get(origin, "")


def is_whole(value: object) -> bool:
    """Tell whether it is a whole number of 64 bits, as TOML's are; its true is none."""
    return isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63


def is_number(value: object) -> bool:
    """Tell whether it is a number that is not infinite."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and abs(value) <= sys.float_info.max  # type: ignore[arg-type]


def _counted(origin: Any, inner: tuple[Any, ...]) -> bool:
    return origin is tuple and Ellipsis not in inner
