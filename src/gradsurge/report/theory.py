"""All figures of the theory page."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from matplotlib.figure import Figure

from gradsurge.report.figures import equilibria, normalised_partials, partials, vector_fields
from gradsurge.report.style import FORMATS, Format, save


class Recipe(NamedTuple):
    """How a figure is made: its data first, then the drawing and the numbers that go with it."""

    compute: Callable[[], Any]
    draw: Callable[[Any], Figure]
    numbers: Callable[[Any], dict[str, float]]


class Drawn(NamedTuple):
    """A figure's files, and the numbers that the theory page quotes from its data."""

    name: str
    files: list[Path]
    numbers: dict[str, float]


FIGURES: dict[str, Recipe] = {
    "partials": Recipe(partials.compute, partials.draw, partials.numbers),
    "normalised_partials": Recipe(
        normalised_partials.compute, normalised_partials.draw, normalised_partials.numbers
    ),
    "vector_fields": Recipe(vector_fields.compute, vector_fields.draw, vector_fields.numbers),
    "equilibria": Recipe(equilibria.compute, equilibria.draw, equilibria.numbers),
}


def draw_theory(
    out: Path,
    formats: Sequence[Format] = FORMATS,
    on_figure: Callable[[str], object] | None = None,
) -> list[Drawn]:
    """Compute, draw and write every figure; ``on_figure`` hears each name before its turn."""
    drawn = []
    for name, recipe in FIGURES.items():
        if on_figure is not None:
            on_figure(name)
        data = recipe.compute()
        files = save(recipe.draw(data), out, name, formats)
        drawn.append(Drawn(name, files, recipe.numbers(data)))
    return drawn
