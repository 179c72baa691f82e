"""Numbers along each axis, as typed: 128,128 or 80,96,80."""

import typer


def parse_size(text: str | None) -> list[int] | None:
    """Return the numbers of --size; None if it was left out.

    >>> parse_size("80,96,80")
    [80, 96, 80]
    """
    if text is None:
        return None
    try:
        sides = [int(n) for n in text.split(",")]
    except ValueError as error:
        raise typer.BadParameter(f"--size: expected numbers like 128,128, got {text!r}") from error
    if min(sides) < 1:
        raise typer.BadParameter(f"--size: expected numbers above 0, got {text!r}")
    return sides
