"""A data set by name, with its options as they are typed."""

import inspect
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from gradsurge.data.datasets import DATASETS, Dataset

_PARSERS: dict[str, Callable[[str], Any]] = {
    "spacing": lambda text: text if text == "median" else tuple(map(float, text.split(","))),
    "classes": lambda text: tuple(name.strip() for name in text.split(",")),
    "fold": int,
    "shrink": int,
    "splits": Path,
}


def make_dataset(name: str, options: Mapping[str, str] | None = None) -> Dataset:
    """Return a data set.

    Args:
        name: one of `DATASETS`.
        options: arguments of its class, as text: {"spacing": "1,1,1", "crop": "nonzero"}.

    Raises:
        ValueError: an unknown name, option or value; one line with what there is.

    >>> make_dataset("nnunet", {"spacing": "1,1,2.5"}).spacing
    (1.0, 1.0, 2.5)
    """
    if name not in DATASETS:
        raise ValueError(f"unknown data set {name!r}; known: {', '.join(DATASETS)}")
    known = inspect.signature(DATASETS[name]).parameters
    arguments = {}
    for option, text in (options or {}).items():
        if option not in known:
            listed = ", ".join(known) or "none"
            raise ValueError(f"{name} has no option {option!r}; it has: {listed}")
        try:
            arguments[option] = _PARSERS.get(option, str)(text)
        except ValueError as error:
            raise ValueError(f"{option}: cannot be {text!r} ({error})") from error
    return DATASETS[name](**arguments)
