"""Volumes to write and compare; files are written by the libraries people use."""

from pathlib import Path

import nibabel
import numpy as np

from gradsurge.data import Volume

SHAPE = (4, 5, 6)
AFFINE = np.array([[0, -2, 0, 7], [1.5, 0, 0, -3], [0, 0, 3, 11], [0, 0, 0, 1.0]])


def softmax(channels, shape=SHAPE, seed=0, dtype=np.float32):
    z = np.random.default_rng(seed).normal(size=(channels, *shape))
    e = np.exp(z)
    return (e / e.sum(axis=0)).astype(dtype)


def classes(count=3, shape=SHAPE, seed=1):
    return np.random.default_rng(seed).integers(0, count, shape).astype(np.uint8)


def nifti(path, array, affine=AFFINE, kind=nibabel.Nifti1Image, **header):
    image = kind(array, affine, dtype=array.dtype)
    for field, value in header.items():
        image.header[field] = value
    nibabel.save(image, path)
    return path


def label_like(array, source="label.nii.gz", affine=AFFINE):
    """A label in memory, as if read from ``source``."""
    is_nifti = ".nii" in source
    return Volume(
        array, (1.5, 2.0, 3.0) if is_nifti else None, affine if is_nifti else None, Path(source)
    )
