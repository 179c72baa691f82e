"""Small data with known answers, and one recalibration of every method and kind."""

from functools import cache

import numpy as np
import torch
from scipy.special import expit

from gradsurge.calibration import CalibrationSketch
from gradsurge.calibration.recalibration import (
    RECALIBRATIONS,
    Equilibrium,
    fit_recalibration,
)

FITTED = ("temperature", "platt", "bias", "isotonic")
KINDS = {"binary": 2, "multiclass": 3, "multilabel": 2}
# A new method joins every contract test by its name in the dictionary.
EVERY = [(method, kind) for method in RECALIBRATIONS for kind in KINDS]


def binary_logits(seed=0, n=4000, spread=3.0, scale=0.5, bias=-0.7):
    """Return logits z and outcomes drawn with probability sigmoid(scale z + bias)."""
    rng = np.random.default_rng(seed)
    z = rng.normal(-1.0, spread, n)
    return z, (rng.random(n) < expit(scale * z + bias)).astype(np.int64)


def class_logits(seed=0, n=6000, classes=3, spread=3.0, temperature=1.0):
    """Return logits (V, C), too confident by a temperature, and the labels drawn before that."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, classes)) * spread
    p = np.exp(z - z.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    y = (p.cumsum(1) < rng.random((n, 1))).sum(1).clip(0, classes - 1)
    return z * temperature, y


@cache
def sketch_of(kind, seed=0):
    if kind == "binary":
        return CalibrationSketch().update_logits(*binary_logits(seed))
    if kind == "multiclass":
        z, y = class_logits(seed, temperature=1.7)
        return CalibrationSketch("multiclass", 3).update_logits(z.T[None], y[None])
    first, second = binary_logits(seed), binary_logits(seed + 1, scale=1.5, bias=0.4)
    z, y = (np.stack(pair)[None] for pair in zip(first, second, strict=True))
    return CalibrationSketch("multilabel", 2).update_logits(z, y)


def rates_of(kind):
    """Return (region, cross-entropy, decline) of a loss that pulls harder on its foreground."""
    if kind == "multiclass":
        region = torch.tensor([[[0.0, 1.0, 1.2], [3.0, 0.0, 2.0], [4.0, 1.0, 0.0]]])
        return region, torch.tensor([[0.1, 0.1, 0.1]]), 20.0
    number = KINDS[kind] if kind == "multilabel" else 1
    region = torch.tensor([[[0.0, 1.0], [3.0, 0.0]]]).repeat(number, 1, 1)
    return region, torch.full((number, 2), 0.1), 20.0


@cache
def example(method, kind):
    if method == "equilibrium":
        return Equilibrium.from_rates(*rates_of(kind), fitted_on="a training")
    return fit_recalibration(method, sketch_of(kind), "validation cases")


def outputs(kind, seed=5, shape=(2, 4, 5)):
    """Return logits and probabilities, (N, C, *S); binary the foreground (N, *S)."""
    rng = np.random.default_rng(seed)
    if kind == "binary":
        z = rng.normal(size=shape) * 4
        return z, expit(z)
    z = rng.normal(size=(shape[0], KINDS[kind], *shape[1:])) * 4
    return z, expit(z) if kind == "multilabel" else torch.tensor(z).softmax(1).numpy()
