"""Numbers and names as the cells and heads of a table show them."""

from gradsurge.experiments.result_table import Cell, Column

RATIO_DIGITS = 3  # a Dice score moves in the third
_ARROWS = {"lower": "↓", "higher": "↑", None: ""}


def number(value: float, digits: int) -> str:
    """Write a number with so many digits behind the point; nothing is a negative zero.

    >>> number(0.03849, 4), number(-0.00001, 4), number(87.996, 2)
    ('0.0385', '0.0000', '88.00')
    """
    return f"{value:z.{digits}f}"


def ratio(cell: Cell | None, base: Cell | None) -> float | None:
    """Return a value over its base; None if one of them is missing or the base is zero.

    >>> ratio(Cell(0.0153), Cell(0.0306)), ratio(Cell(0.0153), Cell(0.0)), ratio(Cell(1.0), None)
    (0.5, None, None)
    """
    if cell is None or base is None or cell.value is None or not base.value:
        return None
    return cell.value / base.value


def heading(column: Column) -> str:
    """Return the title with unit and arrow.

    >>> heading(Column("dsc", "DSC", "higher", 2, "%")), heading(Column("logit", "Logit", None, 2))
    ('DSC (%) ↑', 'Logit')
    """
    unit = f"({column.unit})" if column.unit else ""
    return one_line(" ".join((column.title, unit, _ARROWS[column.better])))


def one_line(text: str) -> str:
    r"""Join the lines of a text: a line break would end a row in some format or other.

    >>> one_line(" Dice\n  surgery ")
    'Dice surgery'
    """
    return " ".join(text.split())
