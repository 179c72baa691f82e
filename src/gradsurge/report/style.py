"""One look for every figure: colour-blind safe, legible in print, vector and pixels."""

from collections.abc import Callable, Sequence
from functools import wraps
from io import BytesIO
from pathlib import Path
from typing import Literal, ParamSpec, TypeVar

import matplotlib as mpl
from matplotlib.figure import Figure
from PIL import Image

Format = Literal["pdf", "png"]
FORMATS: tuple[Format, ...] = ("pdf", "png")

# Okabe and Ito's palette, told apart with any colour vision; line styles and markers tell again.
FOREGROUND = "#D55E00"
BACKGROUND = "#0072B2"
OURS = "#009E73"
OTHER = "#CC79A7"
INK = "#222222"
FAINT = "#999999"
MEETING = "#C00000"

STYLE = mpl.RcParams(
    {
        "font.family": "DejaVu Sans",
        "font.size": 8.5,
        "axes.titlesize": 9,
        "axes.labelsize": 8.5,
        "axes.edgecolor": INK,
        "axes.linewidth": 0.7,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.color": "#E4E4E4",
        "grid.linewidth": 0.6,
        "xtick.labelsize": 7.5,
        "ytick.labelsize": 7.5,
        "legend.fontsize": 8,
        "legend.frameon": False,
        "lines.linewidth": 1.7,
        "figure.dpi": 100,
        "figure.facecolor": "white",
        "savefig.dpi": 160,
        "pdf.fonttype": 42,  # real fonts, which journals ask for
    }
)

P = ParamSpec("P")
R = TypeVar("R")


def styled(draw: Callable[P, R]) -> Callable[P, R]:
    """Run a drawing function in the style, and leave matplotlib's settings as they were."""

    @wraps(draw)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        with mpl.rc_context(STYLE):
            return draw(*args, **kwargs)

    return run


@styled
def save(
    figure: Figure, directory: Path, name: str, formats: Sequence[Format] = FORMATS
) -> list[Path]:
    """Write ``directory/name.pdf`` and ``.png``, make the directory, and return the files.

    A `Figure` built without pyplot draws with Agg and keeps no global state. Dates and versions
    are left out, so that the same data give the same file.
    """
    directory.mkdir(parents=True, exist_ok=True)
    files = []
    for kind in formats:
        file = directory / f"{name}.{kind}"
        if kind == "pdf":
            figure.savefig(file, format=kind, metadata={"CreationDate": None})
        else:
            _save_png(figure, file)
        files.append(file)
    return files


def _save_png(figure: Figure, file: Path) -> None:
    """Write a palette of 256 colours: a third of the size, and no difference to see."""
    pixels = BytesIO()
    figure.savefig(pixels, format="png")
    with Image.open(pixels) as image:
        small = image.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    small.save(file, optimize=True)
