"""A folder of ``gradsurge predict``: its cases, and what it tells of how they were made."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradsurge.data.case_error import printable, shown
from gradsurge.experiments.prediction.listed_files import FORMAT, NAME, listed_files
from gradsurge.experiments.viewing.structure import Structure, exclusive

_MOST_NAMES = 8
_CORRECTIONS = {
    "equilibrium": "the equilibrium correction (closed form, nothing fitted)",
    "bias": "a bias fitted on validation cases",
    "temperature": "a temperature fitted on validation cases",
}


@dataclass(frozen=True)
class PredictionFolder:
    """What is known of predictions without looking at voxels.

    Attributes:
        folder: where they are.
        about: predictions.json.
        files: case -> role -> file; roles are "probabilities", "mask", "label".
    """

    folder: Path
    about: Mapping[str, Any]
    files: Mapping[str, Mapping[str, Path]]

    def case_named(self, case: str | None) -> str:
        """Return the case that is meant; the first one if none is named.

        Raises:
            ValueError: there is no such case.
        """
        names = list(self.files)
        if not names:
            raise ValueError(f"{shown(self.folder)}: its {NAME} lists no case; predict some first")
        if case is None:
            return names[0]
        if case not in self.files:
            raise ValueError(f"--case: {shown(self.folder)} has no {case!r}; it has {few(names)}")
        return case

    @property
    def structures(self) -> tuple[Structure, ...]:
        """What the maps are of."""
        told = self.about["probabilities"]
        names = [str(name) for name in told["channels"]]
        if told["kind"] == "multiclass":
            return exclusive(names[1:])
        regions = told.get("regions") or {}
        source = told.get("source_classes") or {}
        painted = self.about["mask"]["numbers"]
        found = []
        for channel, name in enumerate(names):
            numbers = tuple(regions.get(name) or (painted[name],))
            labels = tuple(source.get(name) or numbers)
            found.append(Structure(name, channel, labels, numbers))
        return tuple(found)

    def facts(self) -> list[tuple[str, str]]:
        """Return in words how map and mask came about: (what, how)."""
        runs = self.about["runs"]
        who = ", ".join(f"{Path(run['run']).name} at step {run['step']}" for run in runs)
        whose = f"mean of {len(runs)} runs: {who}" if len(runs) > 1 else f"run {who}"
        return [("Model", whose), ("Map", _map_words(runs)), ("Mask", _mask_words(self.about))]


def is_prediction_folder(folder: Path) -> bool:
    """Tell whether a folder holds a predictions.json."""
    return (folder / NAME).is_file()


def open_predictions(folder: Path) -> PredictionFolder:
    """Open a folder of predictions.

    Raises:
        ValueError: it is none, or its predictions.json is damaged.
    """
    file = folder / NAME
    try:
        about = json.loads(file.read_text(encoding="utf-8"))
        if not isinstance(about, dict) or about.get("format") != FORMAT:
            raise ValueError("not written by gradsurge predict")
        found = PredictionFolder(folder, about, listed_files(folder))
        found.facts(), found.structures  # read now, so that damage is told here
    except OSError as error:
        raise ValueError(
            f"{shown(file)}: {error.strerror or error}; expected a folder of gradsurge predict"
        ) from error
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError) as error:
        raise ValueError(
            f"{shown(file)}: damaged ({' '.join(str(error).split())}); predict anew"
        ) from error
    return found


def few(names: list[str]) -> str:
    """Return some names for a message."""
    listed = ", ".join(printable(name) for name in names[:_MOST_NAMES])
    more = len(names) - _MOST_NAMES
    return listed if more <= 0 else f"{listed} and {more} more"


def _map_words(runs: list[Mapping[str, Any]]) -> str:
    names = sorted({str(run["correction"]) for run in runs})
    if names == ["none"]:
        return "probabilities as the network gives them, no correction"
    done = [_CORRECTIONS.get(name, f"the correction {name!r}") for name in names if name != "none"]
    some = ", of some runs" if "none" in names else ""
    return f"probabilities after {' and '.join(done)}{some}"


def _mask_words(about: Mapping[str, Any]) -> str:
    mask = about["mask"]
    limits = mask.get("thresholds")
    if not limits:
        return f"{mask['rule']}, of the probabilities before any correction"
    listed = ", ".join(f"{name} p > {value:.3g}" for name, value in limits.items())
    corrected = any(run["correction"] != "none" for run in about["runs"])
    return f"{listed}{', of the probabilities before the correction' if corrected else ''}"
