"""Folders of predictions and labels, written by the libraries people use."""

from pathlib import Path

import nibabel
import numpy as np
from PIL import Image
from scipy.ndimage import gaussian_filter

from gradsurge.experiments.evaluation.run import evaluate
from gradsurge.experiments.evaluation.settings import Settings

SHAPE = (9, 10, 12)
AFFINE = np.diag([1.0, 1.5, 2.0, 1.0])


def random(seed):
    return np.random.default_rng(seed)


def blobs(seed, classes=2, shape=SHAPE):
    """Labels of some smooth structures, never empty."""
    smooth = gaussian_filter(random(seed).normal(size=(classes, *shape)), (0, *[1.5] * len(shape)))
    smooth[0] += 0.1
    return smooth.argmax(0).astype(np.uint8)


def logits(label, classes, seed, noise=1.5):
    """Logits that know something of the label."""
    truth = np.moveaxis(np.eye(classes)[label], -1, 0)
    return (2 * truth + random(seed).normal(0, noise, truth.shape)).astype(np.float32)


def softmax(z):
    e = np.exp(z.astype(np.float64) - z.max(0))
    return e / e.sum(0)


def sigmoid(z):
    return 1 / (1 + np.exp(-z.astype(np.float64)))


def nifti(path, array, affine=AFFINE):
    """Write (*S), or (C, *S) with a leading axis of channels if the array has four axes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    stored = np.moveaxis(array, 0, -1) if array.ndim == 4 else array
    nibabel.save(nibabel.Nifti1Image(stored, affine, dtype=stored.dtype), path)


def png(path, array):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(array).save(path)


def binary_folder(root, cases=3, model="model", shape=SHAPE, noise=1.5, first=0):
    """Write labels and foreground probabilities; return case -> (p, y)."""
    written = {}
    for n in range(first, first + cases):
        y = blobs(n, shape=shape)
        p = sigmoid(np.diff(logits(y, 2, n + 1000, noise), axis=0)[0]).astype(np.float32)
        nifti(root / "labels" / f"case{n}.nii.gz", y)
        nifti(root / model / f"case{n}.nii.gz", p)
        written[f"case{n}"] = (p, y)
    return written


def measure(root, *models, sketches=None, images=None, jobs=1, dask=None, **settings):
    """Evaluate folders of ``root`` by name; "model" if none is given."""
    folders = {name: Path(root) / name for name in models or ("model",)}
    return evaluate(
        folders,
        Path(root) / "labels",
        Settings(**settings),
        sketches=sketches,
        images=images,
        jobs=jobs,
        dask=dask,
    )


def row(model, case, label, region="all"):
    """The scores of one row; the case "pooled" looks among the pooled ones."""
    rows = model.pooled if case == "pooled" else model.rows
    (found,) = [r.scores for r in rows if (r.case, r.label, r.region) == (case, label, region)]
    return found
