"""An evaluation as files for machines: ``metrics.json`` and ``cases.csv``."""

import csv
import io
import json
import math
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from gradsurge.calibration.lesion_table import lesion_table
from gradsurge.experiments.evaluation.result import Evaluation, LesionSummary, ModelResult
from gradsurge.experiments.evaluation.settings import Settings


def as_json(evaluation: Evaluation) -> dict[str, Any]:
    """Return everything but the single cases as plain data; numbers that are none become null."""
    found = {
        "provenance": evaluation.provenance,
        "settings": _settings(evaluation.settings),
        "labels": str(evaluation.label_folder),
        "structures": evaluation.labels,
        "dimensions": evaluation.dimensions,
        "models": {name: _model(m, evaluation) for name, m in evaluation.models.items()},
        "comparisons": [asdict(c) for c in evaluation.comparisons],
        "problems": [asdict(p) for p in evaluation.problems],
    }
    cleaned: dict[str, Any] = _clean(found)
    return cleaned


def write_metrics(evaluation: Evaluation, file: Path) -> None:
    """Write ``metrics.json``."""
    _write(file, json.dumps(as_json(evaluation), indent=2, allow_nan=False) + "\n")


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
    _write(file, text.getvalue())


def _settings(settings: Settings) -> dict[str, Any]:
    return asdict(settings) | {
        "label_sets": {s.name: list(s.values) for s in settings.label_sets},
        "masks": None if settings.masks is None else str(settings.masks),
    }


def _model(model: ModelResult, evaluation: Evaluation) -> dict[str, Any]:
    per_case: dict[str, Any] = {}
    for (region, label, name), mean in model.means.items():
        per_case.setdefault(region, {}).setdefault(label, {})[name] = asdict(mean)
    pooled: dict[str, Any] = {}
    for row in model.pooled:
        pooled.setdefault(row.region, {})[row.label] = row.scores
    return {
        "folder": str(model.folder),
        "cases": len(model.cases),
        "problems": len(model.problems),
        "mean_over_cases": per_case,
        "pooled": pooled,
        "best_thresholds": {
            label: {"threshold": lens.best_threshold, "dice": lens.best_dice}
            for (region, label), lens in model.lenses.items()
            if region == evaluation.settings.regions[0]
        },
        "reliability": {
            f"{region}/{label}": lens.reliability._asdict()
            for (region, label), lens in model.lenses.items()
        },
        "lesions": {k: _lesions(s, evaluation.settings) for k, s in model.lesions.items()},
        "logits": {label: asdict(sums.means()) for label, sums in model.logits.items()},
    }


def _lesions(summary: LesionSummary, settings: Settings) -> dict[str, Any]:
    return {
        "count": len(summary.lesions),
        "predicted_components": summary.predicted_components,
        "false_positives": summary.false_positives,
        "sizes": [asdict(row) for row in lesion_table(summary.lesions, settings.lesion_edges)],
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
    return "" if value is None or math.isnan(value) else repr(value)


def _write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    beside.write_text(text, encoding="utf-8")
    beside.replace(file)
