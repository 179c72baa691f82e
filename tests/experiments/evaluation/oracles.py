"""Every score by its definition, from all voxels at once: scikit-learn and NumPy in float64."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.metrics import (
    average_precision_score,
    brier_score_loss,
    f1_score,
    roc_auc_score,
)

# Scores that a sketch knows within a bound only; the bounds themselves are the sketch's tests.
BOUNDED = {"auroc": 2e-4, "average_precision": 1e-3, "equal_mass_ece": 2e-3}


def binned(p, y, bins=15):
    """Return (count, mean p, frequency) of each bin (lo, hi] that is not empty."""
    edges = np.arange(bins + 1) / bins + 1e-12  # 1 - 0.8 is 0.19999999999999996
    found = []
    for k in range(bins):
        inside = (p > edges[k]) & (p <= edges[k + 1])
        if k == 0:
            inside |= p <= edges[0]
        if inside.any():
            found.append((inside.sum(), p[inside].mean(), y[inside].mean()))
    return np.array(found).reshape(-1, 3)


def ece(p, y, bins=15):
    count, mean, frequency = binned(p, y, bins).T
    return float((count * np.abs(mean - frequency)).sum() / count.sum())


def mce(p, y, bins=15, minimum=1):
    rows = [r for r in binned(p, y, bins) if r[0] >= minimum]
    return max((abs(r[1] - r[2]) for r in rows), default=float("nan"))


def equal_mass_ece(p, y, bins=15):
    """In the order of p, ties sharing their outcomes; a border may divide a voxel."""
    _, group = np.unique(p, return_inverse=True)
    shared = (np.bincount(group, y) / np.bincount(group))[group]
    order = np.argsort(p, kind="stable")
    running = np.concatenate([[0.0], np.cumsum((p - shared)[order])])
    borders = np.interp(np.linspace(0, p.size, bins + 1), np.arange(p.size + 1), running)
    return float(np.abs(np.diff(borders)).sum() / p.size)


def of_structure(p, y, bins=15, minimum=1):
    """Scores of a probability of one structure against its label, both flat."""
    p, y = np.asarray(p, np.float64).ravel(), np.asarray(y, bool).ravel()
    top, right = np.maximum(p, 1 - p), (p > 0.5) == y
    both = 0 < y.sum() < y.size
    brier = brier_score_loss(y, p, pos_label=1)
    return {
        "voxels": y.size,
        "positives": int(y.sum()),
        "nll": -np.log(np.maximum(np.where(y, p, 1 - p), 2**-24)).mean(),
        "brier": brier,
        "brier_sum": 2 * brier,
        "ece": ece(p, y, bins),
        "ace": np.abs(np.diff(binned(p, y, bins)[:, 1:])).mean(),
        "mce": mce(p, y, bins, minimum),
        "equal_mass_ece": equal_mass_ece(p, y, bins),
        "top_ece": ece(top, right, bins),
        "top_mce": mce(top, right, bins, minimum),
        "sharpness": np.mean(p * (1 - p)),
        "auroc": roc_auc_score(y, p) if both else float("nan"),
        "average_precision": average_precision_score(y, p) if y.any() else float("nan"),
    }


def of_mean(each):
    """Mean over structures of what is defined; counts are the caller's."""
    mean = {name: np.nanmean([one[name] for one in each]) for name in each[0]}
    return mean | {"voxels": each[0]["voxels"], "positives": sum(e["positives"] for e in each)}


def of_classes(p, y, bins=15):
    """The common row of exclusive classes: p (C, V) and class numbers (V,)."""
    each = [of_structure(p[c], y == c, bins) for c in range(1, len(p))]
    top, right = p.max(0), p.argmax(0) == y
    truth = np.eye(len(p))[y].T
    return of_mean(each) | {
        "nll": -np.log(p[y, np.arange(y.size)]).mean(),
        "brier_sum": float(((p - truth) ** 2).sum(0).mean()),
        "class_wise_ece": np.mean([ece(p[c], y == c, bins) for c in range(len(p))]),
        "top_ece": ece(top, right, bins),
        "top_mce": mce(top, right, bins),
    }


def of_sets(p, y, bins=15):
    """The common row of structures that may overlap: p and y (K, V)."""
    each = [of_structure(*pair, bins) for pair in zip(p, y, strict=True)]
    return of_mean(each) | {"brier_sum": sum(e["brier"] for e in each)}


def dice(mask, label):
    return f1_score(label.ravel(), mask.ravel())


def band(label, spacing, width):
    """Voxels whose centre is within ``width`` of the nearest voxel of the other kind."""
    where = np.argwhere(np.ones(label.shape, bool)) * np.asarray(spacing)
    flat = label.ravel()
    distance = cdist(where, where)
    near = np.where(flat, distance[:, ~flat].min(1), distance[:, flat].min(1))
    return (near <= width * (1 + 1e-9)).reshape(label.shape)


def assert_scores(found, expected, relative=1e-9):
    """Compare score by score, so that a failure names the one that is off."""
    for name, value in expected.items():
        close = pytest.approx(value, rel=relative, abs=BOUNDED.get(name, 1e-12), nan_ok=True)
        assert found[name] == close, name
