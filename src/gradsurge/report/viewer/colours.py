"""Colours of the viewer: told apart with any colour vision, and on grey scans."""

import matplotlib as mpl

# Of the outlines one is a full line and one is dashed, which tells them apart a second time.
LABEL = "#00E5FF"
MASK = "#FFFFFF"
_PROBABILITY = "plasma"  # no grey in it, and lighter all the way
_STOPS = 33


def probability_stops() -> list[list[int]]:
    """Return [red, green, blue] from probability 0 to 1, in even steps.

    >>> probability_stops()[0], probability_stops()[-1]
    ([13, 8, 135], [240, 249, 33])
    """
    colours = mpl.colormaps[_PROBABILITY]
    shades = [colours(n / (_STOPS - 1)) for n in range(_STOPS)]
    return [[round(255 * float(part)) for part in shade[:3]] for shade in shades]
