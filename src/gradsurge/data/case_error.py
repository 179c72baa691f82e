"""The fault of one case, in one line."""

from pathlib import Path


class CaseError(ValueError):
    """A fault in the files of one case: one clear line; the other cases go on."""


def printable(text: str) -> str:
    r"""Return ``text`` on one line: what cannot be printed is escaped, all else stays.

    >>> print(printable("Fall 7 <ä>\n"))
    Fall 7 <ä>\n
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def shown(path: Path) -> str:
    """Return the path as errors print it: whatever the name holds, one line."""
    return printable(str(path))
