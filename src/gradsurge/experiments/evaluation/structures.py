"""A case's files turned into what a sketch counts: scores and labels of the structures."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from gradsurge.calibration.sketch import CalibrationSketch, Kind
from gradsurge.data import (
    CaseError,
    Volume,
    binarise,
    check_class_labels,
    check_logits,
    check_probabilities,
    logits_of_sets,
    regions_from_channels,
    regions_per_channel,
)
from gradsurge.experiments.evaluation.settings import Settings

Floats = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Structures:
    """One case, ready to be counted.

    Attributes:
        kind: of the sketch.
        names: of the structures, K of them.
        scores: what the sketch is updated with: (C, *S), binary (1 or 2, *S), multilabel (K, *S).
        logits: whether ``scores`` are logits.
        target: class indices (*S); multilabel (K, *S) bool.
        probabilities: of each structure, (K, *S).
        labels: of each structure, (K, *S) bool.
        masks: hard predictions of each structure, (K, *S) bool.
        spacing: mm along each axis; ones if the files do not tell.
    """

    kind: Kind
    names: list[str]
    scores: Floats
    logits: bool
    target: NDArray[Any]
    probabilities: Floats
    labels: NDArray[np.bool_]
    masks: NDArray[np.bool_]
    spacing: tuple[float, ...]

    @property
    def classes(self) -> int:
        """Number of classes (multilabel: channels) of the sketch."""
        if self.kind == "multiclass":
            return len(self.scores)
        return 2 if self.kind == "binary" else len(self.names)

    def empty_sketch(self) -> CalibrationSketch:
        """Return a sketch of the right kind."""
        return CalibrationSketch(self.kind, self.classes)


def structures_of(prediction: Volume, label: Volume, settings: Settings) -> Structures:
    """Check a case's values and bring them into the form that is counted.

    Raises:
        CaseError: the values are no probabilities (logits), or do not fit the labels.
    """
    values = prediction.array
    if settings.logits:
        check_logits(prediction)
    else:
        values = check_probabilities(values, not settings.multilabel, prediction.step)
        if prediction.affine is None and prediction.step > 0:
            values = _on_steps(values, prediction.step)
    spacing = label.spacing or prediction.spacing or (1.0,) * label.array.ndim
    if settings.label_sets:
        return _of_sets(values, label.array, settings, spacing)
    if settings.multilabel:
        raise CaseError("overlapping channels need one --label NAME=NUMBERS each, in their order")
    check_class_labels(label.array, len(values))
    return _of_classes(values, label.array, settings, spacing)


def _of_classes(
    values: Floats, label: NDArray[Any], settings: Settings, spacing: tuple[float, ...]
) -> Structures:
    """Score label values as they are: foreground, or classes 1 to C - 1."""
    if len(values) <= 2:
        return _binary("foreground", values, label == 1, settings.logits, spacing)
    p = _softmax(values) if settings.logits else values
    classes = range(1, len(values))
    winner = p.argmax(0)
    return Structures(
        kind="multiclass",
        names=[f"class {c}" for c in classes],
        scores=values,
        logits=settings.logits,
        target=label,
        probabilities=p[1:],
        labels=np.stack([label == c for c in classes]),
        masks=np.stack([winner == c for c in classes]),
        spacing=spacing,
    )


def _of_sets(
    values: Floats, label: NDArray[Any], settings: Settings, spacing: tuple[float, ...]
) -> Structures:
    """Score sets of label values, each against the rest."""
    sets, logits = settings.label_sets, settings.logits
    truth = np.stack([binarise(label, s.values) for s in sets])
    if settings.multilabel:
        regions = regions_per_channel(values, sets)
    elif len(sets) == 1 and len(values) <= 2 and 0 not in sets[0].values:
        return _binary(sets[0].name, values, truth[0], logits, spacing)
    elif logits:
        regions = logits_of_sets(values, sets)
    else:
        regions = regions_from_channels(values, sets)
    if len(sets) == 1:
        return _binary(sets[0].name, regions, truth[0], logits, spacing)
    p = _sigmoid(regions) if logits else regions
    names = [s.name for s in sets]
    return Structures("multilabel", names, regions, logits, truth, p, truth, p > 0.5, spacing)


def _binary(
    name: str, values: Floats, truth: NDArray[np.bool_], logits: bool, spacing: tuple[float, ...]
) -> Structures:
    p = values[-1:]
    if logits:
        p = _sigmoid(values if len(values) == 1 else values[1:] - values[:1])
    return Structures("binary", [name], values, logits, truth, p, truth[None], p > 0.5, spacing)


def _on_steps(values: Floats, step: float) -> Floats:
    """Return k / 255 (or 65535) in float64: every 17th value is the edge of one of 15 bins.

    In float32 it would lie beside the edge, half of the time in the wrong bin.
    """
    exact: Floats = np.rint(values / step).astype(np.float64)
    exact /= round(1.0 / step)
    return exact


def _softmax(logits: Floats) -> Floats:
    found: Floats = torch.from_numpy(logits).double().softmax(0).numpy()
    return found


def _sigmoid(logits: Floats) -> Floats:
    found: Floats = torch.from_numpy(logits).double().sigmoid().numpy()
    return found
