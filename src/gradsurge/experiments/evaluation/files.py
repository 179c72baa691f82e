"""An evaluation as files for machines: ``metrics.json`` and ``cases.csv``."""

import csv
import io
import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

from gradsurge.calibration.lesion_table import lesion_table
from gradsurge.experiments.evaluation.definitions import all_structures
from gradsurge.experiments.evaluation.lesion_sizes import size_edges
from gradsurge.experiments.evaluation.result import Evaluation, LesionSummary, ModelResult
from gradsurge.experiments.evaluation.settings import Settings
from gradsurge.experiments.whole_file import write_whole


def as_json(evaluation: Evaluation) -> dict[str, Any]:
    """Return everything but the single cases as plain data; numbers that are none become null."""
    found = {
        "provenance": evaluation.provenance,
        "settings": _settings(evaluation.settings),
        "labels": str(evaluation.label_folder),
        "structures": evaluation.labels,
        "definitions": all_structures(evaluation),
        "dimensions": evaluation.dimensions,
        "models": {name: _model(m, evaluation) for name, m in evaluation.models.items()},
        "comparisons": [asdict(c) for c in evaluation.comparisons],
        "problems": [asdict(p) for p in evaluation.problems],
        "notes": evaluation.notes,
    }
    cleaned: dict[str, Any] = _clean(found)
    return cleaned


def write_metrics(evaluation: Evaluation, file: Path) -> None:
    """Write ``metrics.json``."""
    text = json.dumps(as_json(evaluation), indent=2, allow_nan=False)
    write_whole(file, f"{text}\n".encode())


def write_cases(evaluation: Evaluation, file: Path) -> None:
    """Write ``cases.csv``: a row a model, case, region and structure; empty where undefined.

    A spreadsheet takes text that begins with = + - @ for a formula: such names get a quote first.
    """
    rows = [row for model in evaluation.models.values() for row in model.rows]
    names = list(dict.fromkeys(name for row in rows for name in row.scores))
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(["model", "case", "region", "structure", *names])
    for row in rows:
        keys = (_harmless(key) for key in (row.model, row.case, row.region, row.label))
        table.writerow([*keys, *(_number(row.scores.get(name)) for name in names)])
    write_whole(file, text.getvalue().encode())


def _settings(settings: Settings) -> dict[str, Any]:
    return asdict(settings) | {
        "label_sets": {s.name: list(s.values) for s in settings.label_sets},
        "masks": None if settings.masks is None else str(settings.masks),
    }


def _model(model: ModelResult, evaluation: Evaluation) -> dict[str, Any]:
    per_case: dict[str, Any] = {}
    for (region, label, name), mean in model.means.items():
        per_case.setdefault(region, {}).setdefault(label, {})[name] = asdict(mean)
    return {
        "folder": str(model.folder),
        "masks": "listed in predictions.json" if model.own_masks else "of the maps",
        "cases": len(model.cases),
        "problems": len(model.problems),
        "mean_over_cases": per_case,
        "pooled": _pooled(model, "scores"),
        "pooled_bounds": _pooled(model, "bounds"),
        "clipped": {region: sketch.clipped for region, sketch in model.sketches.items()},
        "best_thresholds": _best_thresholds(model, evaluation.settings),
        "reliability": {
            f"{region}/{label}": lens.reliability._asdict()
            for (region, label), lens in model.lenses.items()
        },
        "lesions": {
            label: _lesions(found, size_edges(evaluation, label))
            for label, found in model.lesions.items()
        },
        "logits": {label: asdict(sums.means()) for label, sums in model.logits.items()},
    }


def _pooled(model: ModelResult, what: Literal["scores", "bounds"]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for row in model.pooled:
        found.setdefault(row.region, {})[row.label] = getattr(row, what)
    return found


def _best_thresholds(model: ModelResult, settings: Settings) -> dict[str, Any]:
    return {
        label: {
            "threshold": lens.best_threshold,
            "dice": lens.best_dice,
            "dice_bound": lens.best_dice.error,
        }
        for (region, label), lens in model.lenses.items()
        if region == settings.regions[0]
    }


def _lesions(summary: LesionSummary, edges: list[float]) -> dict[str, Any]:
    return {
        "count": len(summary.lesions),
        "predicted_components": summary.predicted_components,
        "false_positives": summary.false_positives,
        "sizes": [asdict(row) for row in lesion_table(summary.lesions, edges)],
    }


def _clean(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(k): _clean(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(v) for v in value]
    if hasattr(value, "tolist"):
        return _clean(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _harmless(name: str) -> str:
    return f"'{name}" if name.startswith(("=", "+", "-", "@", "\t", "\r")) else name


def _number(value: float | None) -> str:
    return "" if value is None or math.isnan(value) else repr(value + 0)  # a sum has no bound
