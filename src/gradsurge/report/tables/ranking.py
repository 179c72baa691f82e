"""Which numbers of a column are best and second best."""

from collections.abc import Mapping
from typing import Literal

from gradsurge.experiments.result_table import Cell, Column
from gradsurge.report.tables.numbers import number

Place = Literal[1, 2]


def places(column: Column, cells: Mapping[str, Cell]) -> dict[str, Place]:
    """Return the rows with the best and the second-best value.

    Numbers are compared as they are shown: two that look the same share a place, and the next
    value takes the next one. Missing numbers have no place. One row alone has won nothing, and of
    two rows only the better one has a place.

    Args:
        column: says which way is better, and the digits; without a better way there is no place.
        cells: row key -> cell.

    Returns:
        Row key -> 1 or 2.

    >>> nll = Column("nll", "NLL", "lower", 2)
    >>> places(nll, {"a": Cell(0.312), "b": Cell(0.308), "c": Cell(None), "d": Cell(0.4)})
    {'a': 1, 'b': 1, 'd': 2}
    """
    shown = {
        key: float(number(cell.value, column.digits))
        for key, cell in cells.items()
        if cell.value is not None
    }
    if column.better is None or len(shown) < 2:
        return {}
    best, *others = sorted(set(shown.values()), reverse=column.better == "higher")
    found: dict[str, Place] = {}
    for key, value in shown.items():
        if value == best:
            found[key] = 1
        elif value == others[0] and len(shown) > 2:
            found[key] = 2
    return found
