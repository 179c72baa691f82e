"""What a viewer is given: a description in plain values, and the volumes it names."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsurge.experiments.viewing.amounts import STEPS, amounts_of
from gradsurge.experiments.viewing.case_view import CaseView, ModelView
from gradsurge.experiments.viewing.opening import first_cursor
from gradsurge.experiments.viewing.scan import Scan
from gradsurge.report.viewer import colours
from gradsurge.report.viewer.precision import FULL, Precision
from gradsurge.report.viewer.volume_file import colour_voxels, volume_file

_WINDOW = (0.5, 99.5)  # percentiles of the scan that become black and white
_OPENING = {"threshold": 0.05, "map": 0.6, "label": 1.0, "mask": 1.0}


@dataclass(frozen=True)
class Contents:
    """What is shown.

    Attributes:
        description: plain values, ready for JSON.
        parts: name -> gzipped NIfTI.
    """

    description: dict[str, Any]
    parts: dict[str, bytes]


def contents_of(
    view: CaseView,
    precision: Precision = FULL,
    on_part: Callable[[str], object] = lambda _: None,
) -> Contents:
    """Return a case as a viewer takes it.

    Args:
        view: the case.
        precision: of the maps.
        on_part: told which volume is made ready.
    """
    parts: dict[str, bytes] = {}

    def add(name: str, array: NDArray[Any], slope: float = 1.0, inter: float = 0.0) -> str:
        on_part(name)
        parts[name] = volume_file(array, view.layout, slope, inter)
        return name

    description = {
        "case": view.case,
        "grid": _grid(view),
        "scan": _scan(view, add),
        "label": None if view.label is None else _label(view, add("label", view.label)),
        "structures": [_structure(view, n) for n in range(len(view.structures))],
        "models": [_model(view, model, n, precision, add) for n, model in enumerate(view.models)],
        "precision": asdict(precision),
        "steps": STEPS,
        "colours": {
            "probability": colours.probability_stops(),
            "label": colours.LABEL,
            "mask": colours.MASK,
        },
        "opening": _OPENING,
        "notes": list(view.notes),
    }
    return Contents(description, parts)


def _label(view: CaseView, part: str) -> dict[str, Any]:
    return {"part": part, "title": view.label_title}


def _structure(view: CaseView, number: int) -> dict[str, Any]:
    structure = view.structures[number]
    return {
        "name": structure.name,
        "label": _listed(structure.label_numbers),
        "mask": _listed(structure.mask_numbers),
        "cursor": list(first_cursor(view, number)),
    }


def _grid(view: CaseView) -> dict[str, Any]:
    layout = view.layout
    volume = layout.voxel_volume
    return {
        "shape": list(layout.shape),
        "flat": layout.flat,
        "source": {
            "shape": list(layout.source_shape),
            "axes": list(layout.axes),
            "flips": list(layout.flips),
            "steps": list(layout.steps),
        },
        "affine": None if layout.affine is None else layout.affine.tolist(),
        "millilitres": None if volume is None else volume / 1000.0,
    }


def _scan(view: CaseView, add: Callable[..., str]) -> dict[str, Any]:
    scan = view.scan
    if scan is None:
        empty = np.zeros(view.layout.source_shape, np.uint8)
        return {"part": add("scan", empty), "window": [0, 1], "colours": False, "title": None}
    window = [0.0, 255.0]
    if scan.colours:
        part = add("scan", colour_voxels(scan.values))
    else:
        stored, slope, inter, window = _grey(scan)
        part = add("scan", stored, slope, inter)
    return {"part": part, "window": window, "colours": scan.colours, "title": scan.title}


def _grey(scan: Scan) -> tuple[NDArray[Any], float, float, list[float]]:
    """Return a scan in at most 16 bits, the slope and intercept of its values, and a window."""
    values = scan.values.astype(np.uint8) if scan.values.dtype == bool else scan.values
    finite = np.isfinite(values) if values.dtype.kind == "f" else None
    known = values if finite is None else values[finite]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    window = [float(n) for n in np.percentile(known, _WINDOW)] if known.size else [0.0, 1.0]
    if window[0] >= window[1]:
        window = [low, max(high, low + 1.0)]
    if values.dtype in (np.uint8, np.int16, np.uint16):
        return values, 1.0, 0.0, window
    if values.dtype.kind in "iu" and low >= -(2**15) and high < 2**15:
        return values.astype(np.int16), 1.0, 0.0, window
    slope = (high - low) / 65535 or 1.0
    filled = values if finite is None else np.where(finite, values, low)
    stored = np.rint((filled.astype(np.float64) - low) / slope).astype(np.uint16)
    return stored, slope, low, window


def _model(
    view: CaseView, model: ModelView, number: int, precision: Precision, add: Callable[..., str]
) -> dict[str, Any]:
    maps = None
    if model.maps is not None:
        maps = [
            add(
                f"map-{number}-{n}",
                precision.stored(structure.probability(model.maps)),
                precision.scale,
            )
            for n, structure in enumerate(model.structures)
        ]
    return {
        "name": model.name,
        "facts": [list(fact) for fact in model.facts],
        "mask": None if model.mask is None else add(f"mask-{number}", model.mask),
        "maps": maps,
        "amounts": [asdict(amounts_of(view, model, s)) for s in model.structures],
    }


def _listed(numbers: tuple[int, ...] | None) -> list[int] | None:
    return None if numbers is None else list(numbers)
