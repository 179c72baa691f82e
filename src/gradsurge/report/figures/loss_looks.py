"""Losses keep their colour, marker and line in every figure of results."""

from gradsurge.report.figures.model_looks import ModelLook, model_look
from gradsurge.report.style import BACKGROUND, FOREGROUND, INK, OTHER, OURS

_LOOKS = {
    "dice": ModelLook("", BACKGROUND, "s", ()),
    "dice-surgery": ModelLook("", FOREGROUND, "^", (5, 2)),
    "ce": ModelLook("", INK, "o", (1.5, 1.5)),
    "ce+dice": ModelLook("", OTHER, "v", (6, 2, 1.5, 2)),
    "ce+dice-surgery": ModelLook("", OURS, "D", (3, 1.5)),
}


def loss_look(name: str, index: int = 0) -> ModelLook:
    """Return the look of a loss; one without its own gets that of its place among others.

    >>> loss_look("dice").marker, loss_look("tversky", 1).marker
    ('s', 'X')
    """
    return _LOOKS.get(name, model_look(index + len(_LOOKS)))
