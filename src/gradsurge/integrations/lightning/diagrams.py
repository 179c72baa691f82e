"""Reliability diagrams on their way to loggers and folders."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from gradsurge.calibration import CalibrationSketch


class Diagrams:
    """Draws, at every so many calls, and hands the pictures on.

    Args:
        every: draw at the first call and at every so many after it; 0 for never.
        bins: of the diagrams.
        folder: for PNG files of all of them; None for none.
    """

    def __init__(self, every: int, bins: int, folder: Path | None) -> None:
        if every < 0:
            raise ValueError(f"diagram_every: expected a whole number from 0 on, got {every}")
        self.every, self.bins, self.folder = every, bins, folder
        self.calls = 0
        self._noted: set[str] = set()

    def show(
        self, sketches: Mapping[str, CalibrationSketch], loggers: Sequence[Any], step: int
    ) -> None:
        """Draw the diagrams of sketches by name, if it is their turn."""
        turn = self.every > 0 and self.calls % self.every == 0
        self.calls += 1
        if not turn or not (loggers or self.folder):
            return
        for name, sketch in sketches.items():
            for label, picture in _pictures(sketch, self.bins):
                tag = name if label is None else f"{name}_class_{label}"
                if self.folder is not None:
                    _write(picture, self.folder, tag, step)
                for logger in loggers:
                    self._hand_on(logger, tag, picture, step)

    def _hand_on(self, logger: Any, tag: str, picture: Image.Image, step: int) -> None:
        if hasattr(logger, "log_image"):
            logger.log_image(key=tag, images=[picture], step=step)
        elif hasattr(logger.experiment, "add_image"):
            logger.experiment.add_image(tag, np.asarray(picture), step, dataformats="HWC")
        elif logger.log_dir:
            _write(picture, Path(logger.log_dir) / "reliability", tag, step)
        elif self.folder is None and type(logger).__name__ not in self._noted:
            self._noted.add(type(logger).__name__)
            warnings.warn(
                f"CalibrationCallback: {type(logger).__name__} takes no pictures that we know of, "
                f"and has no folder; give the callback one with folder=..., or diagram_every=0",
                stacklevel=2,
            )


def _pictures(sketch: CalibrationSketch, bins: int) -> Iterator[tuple[int | None, Image.Image]]:
    """Yield the diagram of each foreground class, those of the others faint behind it."""
    from gradsurge.report.figures.model_looks import model_look
    from gradsurge.report.figures.reliability import compute, draw

    curves = {label: sketch.reliability(bins, label) for label in sketch.foreground}
    for index, (label, curve) in enumerate(curves.items()):
        others = [other for k, other in curves.items() if k != label]
        pixels = BytesIO()
        draw(compute(curve, others), model_look(index)).savefig(pixels, format="png", dpi=160)
        with Image.open(pixels) as image:
            yield (label if len(curves) > 1 else None), image.convert("RGB")


def _write(picture: Image.Image, folder: Path, tag: str, step: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    picture.save(folder / f"{tag.replace('/', '_')}_step_{step:06d}.png")
