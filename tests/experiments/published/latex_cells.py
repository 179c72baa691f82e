"""Numbers of LaTeX cells with what is set round them, read sign by sign."""

import re
from dataclasses import dataclass

_COMMANDS = {"mathbf": "bold", "textbf": "bold", "underline": "underline", "mathit": "italic"}
_TOKENS = re.compile(
    r"\\(?P<command>[A-Za-z]+)|(?P<open>\{)|(?P<close>\})|(?P<star>\*)|(?P<number>-?\d+(?:\.\d+)?)"
)


@dataclass(frozen=True)
class Read:
    """A cell: its numbers as printed, and the marks that were open at the first of them."""

    value: str
    deviation: str | None
    star: bool
    marks: frozenset[str]


def read_cell(latex):
    """Return a cell's numbers; None if it has none."""
    open_groups, coming = [], ""
    numbers, star, marks = [], False, frozenset()
    for token in _TOKENS.finditer(latex):
        if token["command"]:
            coming = _COMMANDS.get(token["command"], "")
        elif token["open"]:
            open_groups.append(coming)
            coming = ""
        elif token["close"]:
            open_groups.pop()
        elif token["star"]:
            star = True
        else:
            if not numbers:
                marks = frozenset(filter(None, open_groups))
            numbers.append(token["number"])
    assert not open_groups, latex
    if not numbers:
        return None
    value, *deviation = numbers
    return Read(value, deviation[0] if deviation else None, star, marks)
