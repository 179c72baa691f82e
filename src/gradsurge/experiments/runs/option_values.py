"""Options written as NAME=VALUE on a command line, and the types of their values."""

import json
from collections.abc import Sequence
from typing import Any

_WORDS = {"none": None, "null": None, "true": True, "false": False}


def parse_options(flag: str, texts: Sequence[str]) -> dict[str, Any]:
    """Return the options: numbers, true, false, none, comma-separated numbers, or text.

    Args:
        flag: of the command line, for errors.
        texts: NAME=VALUE each.

    >>> parse_options("--loss-option", ["decline=40", "weights=1,1", "activation=softmax"])
    {'decline': 40, 'weights': [1, 1], 'activation': 'softmax'}

    Raises:
        ValueError: a text is not of that form, or a name comes twice.
    """
    options: dict[str, Any] = {}
    for text in texts:
        name, separator, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not separator or not name.isidentifier() or not value.strip():
            raise ValueError(f"{flag}: expected NAME=VALUE, such as decline=40, got {text!r}")
        if name in options:
            raise ValueError(f"{flag}: {name} is given twice, as {options[name]!r} and in {text!r}")
        options[name] = _value(value.strip())
    return options


def _value(text: str) -> Any:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if "," in text and not text.startswith("["):
        return [_value(part.strip()) for part in text.split(",") if part.strip()]
    try:
        value = json.loads(text, parse_constant=lambda _: text)
    except (json.JSONDecodeError, RecursionError):
        return text
    return text if isinstance(value, dict | str) else value
