"""Passwords that were typed, kept out of what is printed."""

import shlex
import sys
from collections.abc import Sequence


def command_again(arguments: Sequence[str]) -> str:
    """Return the command of `sys.argv`, which goes on, as it may be printed.

    >>> command_again(["/bin/gradsurge", "search", "--storage=postgresql://ann:secret@server/x"])
    "gradsurge search '--storage=postgresql://ann:***@server/x'"
    """
    words = [_without_secrets(word, arguments) for word in arguments[1:]]
    return f"gradsurge {shlex.join(words)}"


def without_passwords(message: str) -> str:
    """Return a message on one line, without the passwords of what was typed."""
    return " ".join(_without_secrets(message, sys.argv).split())


def _without_secrets(text: str, typed: Sequence[str]) -> str:
    # Without a URL nothing is imported: it takes seconds, and may be what was interrupted.
    if not any("://" in word for word in typed):
        return text
    from gradsurge.experiments.search import without_typed_secrets

    return without_typed_secrets(text, typed)
