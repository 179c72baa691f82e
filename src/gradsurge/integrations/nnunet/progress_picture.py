"""nnU-Net's progress.png with one panel more: the calibration of the validation patches."""

from collections.abc import Sequence
from pathlib import Path

from PIL import Image

NAME = "progress.png"


def add_calibration(folder: str | Path, nll: Sequence[float], ece: Sequence[float]) -> None:
    """Draw NLL and ECE of all epochs below the panels that nnU-Net has just drawn.

    nnU-Net closes its figure after writing it, so the panel joins the picture.
    """
    from gradsurge.report.figures import epoch_calibration

    file = Path(folder, NAME)
    if not file.is_file():
        return
    with Image.open(file) as picture:
        curves = picture.convert("RGB")
    panel = epoch_calibration.pixels(nll, ece, curves.width)
    whole = Image.new("RGB", (curves.width, curves.height + panel.height), "white")
    whole.paste(curves, (0, 0))
    whole.paste(panel, (0, curves.height))
    beside = file.with_name(f".{file.name}")
    whole.save(beside, format="png", compress_level=1)
    beside.replace(file)
