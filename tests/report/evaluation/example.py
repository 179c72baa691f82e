"""Evaluations to write reports of: synthetic cases, counted by real sketches.

Each case has round lesions with a fuzzy border. The logit of the true chance is known, and the
models give it as it is, too large, or shifted.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.ndimage import gaussian_filter
from scipy.special import log_softmax, softmax

from gradsurge.calibration.lesions import find_lesions
from gradsurge.calibration.logit_table import LogitSums
from gradsurge.calibration.overlap import dice
from gradsurge.calibration.regions import active_region
from gradsurge.calibration.scores import in_bins
from gradsurge.calibration.sketch import CalibrationSketch
from gradsurge.calibration.thresholds import best_threshold, threshold_curve
from gradsurge.data import LabelSet
from gradsurge.experiments.comparison import compare
from gradsurge.experiments.evaluation.bands import resampled_reliability
from gradsurge.experiments.evaluation.result import (
    CaseLook,
    Evaluation,
    Lens,
    LesionSummary,
    ModelResult,
    Problem,
    Row,
)
from gradsurge.experiments.evaluation.scoring import headline_scores, score_sketch
from gradsurge.experiments.evaluation.settings import ALL, Settings
from gradsurge.experiments.statistics import bootstrap_mean

MODELS = {"ce": (1.0, 0.0), "ce+dice": (3.5, 0.3), "ce+dice-surgery": (1.3, 0.2)}
"""Name -> how much too large the logits are, and how far they are shifted."""


@dataclass(frozen=True)
class Phantom:
    """A case: logits of the true chance, (C, *S), a label drawn from it, and a scan."""

    name: str
    truth: np.ndarray
    label: np.ndarray
    image: np.ndarray


def phantoms(cases: int, structures: int, shape: tuple[int, ...], seed: int = 7):
    rng = np.random.default_rng(seed)
    return [_phantom(f"case_{k + 1:03}", structures, shape, rng) for k in range(cases)]


def _phantom(name: str, structures: int, shape: tuple[int, ...], rng: Any) -> Phantom:
    grid = np.indices(shape).astype(float)
    truth = np.zeros((structures + 1, *shape))
    for c in range(1, structures + 1):
        depth = np.full(shape, -20.0)
        for _ in range(rng.integers(1, 6)):
            centre = rng.uniform(0.2, 0.8, len(shape)) * shape
            far = np.sqrt(((grid - centre.reshape(-1, *[1] * len(shape))) ** 2).sum(0))
            depth = np.maximum(depth, rng.uniform(1.5, 7.0) - far)
        truth[c] = 1.4 * depth
    # Gumbel noise on logits draws from their softmax; smoothed, neighbours hang together.
    noise = gaussian_filter(rng.gumbel(size=truth.shape), [0, *[1.1] * len(shape)])
    label = (truth + noise / noise.std() * 1.28).argmax(0)
    scan = 0.25 * label + gaussian_filter(rng.normal(size=shape), 1) + 0.1 * rng.normal(size=shape)
    return Phantom(name, truth, label, scan.astype(np.float32))


def predict(phantom: Phantom, scale: float, shift: float, seed: int) -> np.ndarray:
    """Return a model's logits: noisy, scaled and shifted chances."""
    noise = np.random.default_rng(seed).normal(size=phantom.truth.shape)
    spread = [0, *[1.5] * (phantom.truth.ndim - 1)]
    logits = phantom.truth + 4.0 * gaussian_filter(noise, spread)
    logits[1:] += shift
    return scale * logits


def example(
    models: Mapping[str, tuple[float, float]] = MODELS,
    *,
    cases: int = 12,
    names: tuple[str, ...] = ("tumour",),
    shape: tuple[int, ...] = (14, 40, 40),
    resamples: int = 200,
    **options: Any,
) -> Evaluation:
    """Return an evaluation of models on phantoms of named structures, with pictures."""
    if "label_sets" not in options:
        options["label_sets"] = tuple(LabelSet(n, (k + 1,)) for k, n in enumerate(names))
    settings = Settings(**options)
    evaluation = Evaluation(
        settings,
        Path("study/labels"),
        {name: ModelResult(name, Path("study/predictions") / name) for name in models},
        list(names),
        len(shape),
        provenance={"gradsurge": "0.1.0", "date": "2025-06-01T12:00:00+00:00"},
    )
    study = phantoms(cases, len(names), shape)
    for result, (scale, shift) in zip(evaluation.models.values(), models.values(), strict=True):
        _measure(evaluation, result, study, scale, shift, resamples)
    evaluation.comparisons = compare(_by_case(evaluation), resamples=resamples)
    return evaluation


def with_problems(evaluation: Evaluation) -> Evaluation:
    """Add two cases that could not be read."""
    first = next(iter(evaluation.models.values()))
    first.problems += [
        Problem(first.name, "case_013", "there is no label of this name in study/labels"),
        Problem(
            first.name, "case_014", "case_014.nii.gz: values from -0.2 to 1.1; expected [0, 1]"
        ),
    ]
    return evaluation


def _measure(
    evaluation: Evaluation,
    result: ModelResult,
    study: list[Phantom],
    scale: float,
    shift: float,
    resamples: int,
) -> None:
    regions, names = evaluation.settings.regions, evaluation.labels
    sketches: dict[str, list[CalibrationSketch]] = {region: [] for region in regions}
    key = names[0] if len(names) == 1 else "classes"
    result.logits[key] = LogitSums(len(names) + 1)
    result.lesions = {name: LesionSummary() for name in names}
    for k, phantom in enumerate(study):
        z = predict(phantom, scale, shift, k)
        p = softmax(z, axis=0)
        result.cases.append(phantom.name)
        overlap = _add_lesions(result, phantom, p, names)
        for region, sketch in _sketches(z, p, phantom.label, regions):
            sketches[region].append(sketch)
            for label, scores in score_sketch(sketch, names, evaluation.settings).items():
                scores["dice"] = overlap.get(label, float(np.mean(list(overlap.values()))))
                result.rows.append(Row(result.name, phantom.name, region, label, scores))
        if evaluation.settings.logits:
            result.logits[key].update_logits(z, phantom.label)
        else:
            result.logits[key].update_probabilities(np.exp(log_softmax(z, axis=0)), phantom.label)
        evaluation.looks += [_look(result.name, phantom, p, names)] if k in (1, 4) else []
    if study:
        _summarise(evaluation, result, sketches, resamples)


def _sketches(
    z: np.ndarray, p: np.ndarray, label: np.ndarray, regions: tuple[str, ...]
) -> Iterator[tuple[str, CalibrationSketch]]:
    for region in regions:
        mask = None if region == "all" else active_region(label > 0, p.argmax(0) > 0)[None]
        sketch = CalibrationSketch(*(("binary",) if len(z) == 2 else ("multiclass", len(z))))
        yield region, sketch.update_logits(z[None], label[None], mask)


def _add_lesions(
    result: ModelResult, phantom: Phantom, p: np.ndarray, names: list[str]
) -> dict[str, float]:
    overlap = {}
    for c, name in enumerate(names, start=1):
        mask, truth = p.argmax(0) == c, phantom.label == c
        found = find_lesions(p[c], truth, mask, (1.5, 0.8, 0.8)[-truth.ndim :], case=phantom.name)
        summary = result.lesions[name]
        summary.lesions += found.lesions
        summary.predicted_components += found.predicted_components
        summary.false_positives += found.false_positives
        overlap[name] = dice(mask, truth)
    return overlap


def _look(model: str, phantom: Phantom, p: np.ndarray, names: list[str]) -> CaseLook:
    error = np.abs(p[-1] - (phantom.label == len(names)))
    if error.ndim == 2:
        where: Any = ...
    else:
        where = int(error.sum(axis=(1, 2)).argmax())
    return CaseLook(
        model,
        phantom.name,
        names[-1],
        "" if where is ... else f"slice {where + 1} of {len(error)}, axis 1",
        phantom.image[where],
        phantom.label[where] == len(names),
        p[-1][where].astype(np.float32),
        1.0,
    )


def _summarise(
    evaluation: Evaluation,
    result: ModelResult,
    sketches: dict[str, list[CalibrationSketch]],
    resamples: int,
) -> None:
    names, settings = evaluation.labels, evaluation.settings
    for region, of_cases in sketches.items():
        pooled = result.sketches[region] = sum(of_cases, start=0)
        for label, scores in score_sketch(pooled, names, settings).items():
            result.pooled.append(Row(result.name, "pooled", region, label, scores))
        for k, label in enumerate(names):
            histograms = [list(s.foreground.values())[k] for s in of_cases]
            whole = list(pooled.foreground.values())[k]
            bins = [in_bins(h, settings.bins) for h in histograms]
            result.lenses[region, label] = Lens(
                resampled_reliability(bins, resamples=resamples),
                bins,
                threshold_curve(whole),
                np.stack([threshold_curve(h).dice for h in histograms]),
                best_threshold(whole).threshold,
                best_threshold(whole).dice,
            )
        for label in [*names, *([ALL] if len(names) > 1 else [])]:
            rows = [r for r in result.rows if (r.region, r.label) == (region, label)]
            for name in rows[0].scores:
                values = [r.scores[name] for r in rows if not np.isnan(r.scores[name])]
                result.means[region, label, name] = bootstrap_mean(values, resamples=resamples)


def _by_case(evaluation: Evaluation) -> dict[str, dict[str, dict[str, float]]]:
    where = (evaluation.settings.regions[0], evaluation.headline) if evaluation.labels else ()
    return {
        model.name: {
            name: {r.case: r.scores[name] for r in model.rows if (r.region, r.label) == where}
            for name in headline_scores(evaluation.settings, evaluation.dimensions)
        }
        for model in evaluation.models.values()
    }
