"""Turning what was typed after ``gradsurge evaluate`` into settings; mistakes are usage errors."""

import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import typer

if TYPE_CHECKING:
    from gradsurge.data import LabelSet
    from gradsurge.experiments.evaluation.settings import Region

# That of the sketch. Importing it would load torch before a mistake in usage is told.
RESOLUTION = 25200


def parse_folders(texts: Sequence[str]) -> tuple[dict[str, Path], Path]:
    """Return the models by name, and the folder of labels, which stands last."""
    *predictions, last = texts
    if not predictions:
        raise typer.BadParameter(
            f"LABELS is missing: expected PREDICTIONS and then LABELS, got one folder only: {last}"
        )
    labels = Path(last)
    if not labels.is_dir():
        raise typer.BadParameter(f"LABELS: no such folder: {last}")
    return parse_models(predictions), labels


def parse_models(texts: Sequence[str]) -> dict[str, Path]:
    """Return name -> folder of ``NAME=DIR`` or ``DIR``, whose name is then the folder's."""
    models: dict[str, Path] = {}
    for text in texts:
        name, separator, folder = text.partition("=")
        if not separator or "/" in name or Path(text).is_dir():  # a folder may have a = in it
            name, folder = Path(text).resolve().name, text
        if name in ("", ".", "..") or not name.isprintable() or "\\" in name:
            raise typer.BadParameter(f"expected NAME=DIR with a plain name, got {text!r}")
        if name in models:
            raise typer.BadParameter(f"two models are called {name!r}: write NAME={folder}")
        if not Path(folder).is_dir():
            raise typer.BadParameter(f"no such folder: {folder}")
        models[name] = Path(folder)
    return models


def parse_regions(texts: Sequence[str]) -> "tuple[Region, ...]":
    """Return the regions without repetitions."""
    from gradsurge.experiments.evaluation.settings import Region

    known: dict[str, Region] = {name: name for name in get_args(Region)}
    for text in texts:
        if text not in known:
            raise typer.BadParameter(f"--region: expected one of {', '.join(known)}, got {text!r}")
    return tuple(dict.fromkeys(known[text] for text in texts))


def parse_edges(text: str | None) -> tuple[float, ...] | None:
    """Return borders of size classes: rising numbers, ``inf`` allowed at the end."""
    if text is None:
        return None
    try:
        edges = tuple(float(part) for part in text.split(","))
    except ValueError as error:
        raise typer.BadParameter(
            f"--lesion-edges: expected numbers such as 0,500,4000,inf; got {text!r}"
        ) from error
    if len(edges) < 2 or not all(a < b for a, b in pairwise(edges)):
        raise typer.BadParameter(
            f"--lesion-edges: expected two or more rising numbers, got {text!r}"
        )
    return edges


def parse_bins(bins: int) -> int:
    """Refuse a number of bins that the sketch cannot give exactly."""
    if bins < 1 or RESOLUTION % bins:
        raise typer.BadParameter(
            f"expected a divisor of {RESOLUTION} (10, 15, 20, 25, ...), got {bins}"
        )
    return bins


def parse_millimetres(number: float | None) -> float | None:
    """Refuse NaN and infinity, which pass for numbers."""
    if number is not None and not math.isfinite(number):
        raise typer.BadParameter(f"expected a number of mm, got {number}")
    return number


def parse_label_sets(texts: Sequence[str], multilabel: bool) -> "tuple[LabelSet, ...]":
    """Return the structures; their names head rows, so each needs its own."""
    from gradsurge.data import parse_label_set
    from gradsurge.experiments.evaluation.settings import ALL

    try:
        sets = tuple(parse_label_set(text) for text in texts)
    except ValueError as error:
        raise typer.BadParameter(f"--label: {error}") from error
    names = [s.name for s in sets]
    for name in names:
        if name == ALL:
            raise typer.BadParameter(f"--label: {name!r} heads the row of them all; rename yours")
        if names.count(name) > 1:
            raise typer.BadParameter(f"--label: two structures are called {name!r}")
    if multilabel and not sets:
        raise typer.BadParameter("--multilabel needs a --label NAME=N[,N] for each channel")
    return sets
