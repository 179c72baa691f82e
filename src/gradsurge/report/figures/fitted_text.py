"""Words of a user's in a figure: no longer than their place, in letters that the font has."""

import textwrap
from functools import cache

from matplotlib.font_manager import findfont, get_font

_LETTER = 0.6  # width of a letter, as a share of its height; names have many wide ones


def short(name: str, longest: int = 26) -> str:
    """Leave out the middle of a long name: names that differ mostly do so at their ends.

    >>> short("lesions_dice_learning_rate_0.01_seed1")
    'lesions_dic..._0.01_seed1'
    >>> short("Fall_ü"), short("病例_1")
    ('Fall_ü', '??_1')
    """
    known = drawable(name)
    if len(known) <= longest:
        return known
    kept = max(longest - 3, 2) // 2
    return f"{known[:kept]}...{known[-kept:]}"


def drawable(name: str) -> str:
    """Return a name with "?" for each letter that the font lacks."""
    return "".join(letter if ord(letter) in _letters() else "?" for letter in name)


def letters(inches: float, points: float) -> int:
    """Return how many letters of a size have room.

    >>> letters(1.0, 6.0)
    20
    """
    return max(8, int(72 * inches / (_LETTER * points)))


def wrapped(text: str, inches: float, points: float) -> str:
    r"""Break lines where the figure ends; breaks that are there stay.

    >>> wrapped("Dice 20 %, Dice surgery 50 %", 1.0, 7.0)
    'Dice 20 %, Dice\nsurgery 50 %'
    """
    width = letters(inches, points)
    return "\n".join(textwrap.fill(line, width) for line in text.splitlines())


@cache
def _letters() -> frozenset[int]:
    """Return what the font of figures can draw."""
    return frozenset(get_font(findfont("DejaVu Sans")).get_charmap())
