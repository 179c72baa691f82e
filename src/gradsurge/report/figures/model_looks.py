"""How models are told apart in every figure and legend: letter, colour, marker and line.

Names of models come from users, and may hold anything: figures carry the letter alone, and the
page's legend says which model it is.
"""

from typing import NamedTuple

from gradsurge.report.style import BACKGROUND, FOREGROUND, INK, OTHER, OURS

_COLOURS = (BACKGROUND, FOREGROUND, OURS, OTHER, INK)
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_DASHES: tuple[tuple[float, ...], ...] = ((), (5, 2), (1.5, 1.5), (6, 2, 1.5, 2))


class ModelLook(NamedTuple):
    """The signs of one model; ``dashes`` are lengths on and off in points, none for a full line."""

    letter: str
    colour: str
    marker: str
    dashes: tuple[float, ...]


def model_look(index: int) -> ModelLook:
    """Return the look of the model of a number; the first 140 differ in their signs.

    >>> model_look(0).letter, model_look(25).letter, model_look(26).letter
    ('A', 'Z', 'AA')
    """
    return ModelLook(
        letter=_letter(index),
        colour=_COLOURS[index % len(_COLOURS)],
        marker=_MARKERS[index % len(_MARKERS)],
        dashes=_DASHES[index % len(_DASHES)],
    )


def _letter(index: int) -> str:
    """Count as columns of a spreadsheet do."""
    letters = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters
