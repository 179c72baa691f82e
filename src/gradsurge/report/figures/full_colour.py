"""Figures of images and maps, written in all their colours."""

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from gradsurge.report.style import FORMATS, STYLE, Format, save


def save_pictures(
    figure: Figure, directory: Path, name: str, formats: Sequence[Format] = FORMATS
) -> list[Path]:
    """Write a figure as `gradsurge.report.style.save` does, but no colour of a PNG is rounded.

    A palette of 256 colours is plenty for lines; of a map with its colour bar it makes steps.
    """
    files = []
    for kind in formats:
        if kind == "pdf":
            files += save(figure, directory, name, [kind])
            continue
        directory.mkdir(parents=True, exist_ok=True)
        file = directory / f"{name}.png"
        with mpl.rc_context(STYLE):
            figure.savefig(file, format="png")
        files.append(file)
    return files
