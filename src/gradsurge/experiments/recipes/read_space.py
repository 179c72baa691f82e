"""Spaces as a recipe writes them: a list of values, or a table with low and high."""

from typing import Any

from gradsurge.experiments.recipes.kinds import is_number
from gradsurge.experiments.recipes.section import Mistake, Section
from gradsurge.experiments.recipes.space import Choice, Range, Space

_PARTS = ("training", "loss")


def read_space(section: Section) -> Space:
    """Return what is searched: dotted name -> range or choice.

    >>> read_space(Section({"loss.sigma": [1, 2, 3]}, "search.space"))
    {'loss.sigma': Choice(values=(1, 2, 3))}

    Raises:
        Mistake: a name or a value cannot be meant.
    """
    return {name: _read_values(section, name) for name in section.content}


def _read_values(section: Section, name: str) -> Range | Choice:
    path, value = section.at(name), section.content[name]
    part, _, rest = name.partition(".")
    if part not in _PARTS or not rest.isidentifier():
        raise Mistake(
            path,
            "expected a quoted name such as 'training.learning_rate' or 'loss.a', "
            f"got {name!r}" + (" as a table" if isinstance(value, dict) and not rest else ""),
        )
    if isinstance(value, list):
        return _made(path, Choice, tuple(tuple(v) if isinstance(v, list) else v for v in value))
    if not isinstance(value, dict):
        raise Mistake(path, f"expected a list of values or {{ low, high }}, got {value!r}")
    ends = Section(value, path, ("low", "high", "scale"))
    return _made(
        path,
        Range,
        _number(ends, "low"),
        _number(ends, "high"),
        ends.choice("scale", ("linear", "log"), "linear"),
    )


def _number(ends: Section, key: str) -> float:
    value = ends.content.get(key)
    if not is_number(value):
        came = "nothing" if value is None else repr(value)
        raise Mistake(ends.at(key), f"expected a number, got {came}")
    return float(value)  # type: ignore[arg-type]  # a number, as just seen


def _made(path: str, kind: type[Range] | type[Choice], *arguments: Any) -> Range | Choice:
    try:
        return kind(*arguments)
    except ValueError as error:
        raise Mistake(path, str(error)) from error
