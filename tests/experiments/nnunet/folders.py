"""Folders as nnU-Net leaves them behind, written without nnU-Net."""

import json
import pickle

import nibabel
import numpy as np

SHAPE = (10, 9, 8)
AFFINE = np.array([[-1.0, 0, 0, 3], [0, 2.0, 0, -4], [0, 0, 3.0, 5], [0, 0, 0, 1]])
CLASSES = {"background": 0, "anterior": 1, "posterior": 2}
REGIONS = {"background": 0, "whole": [1, 2], "core": 2}


class Unopened:
    """Unpickled it would end the test."""

    def __reduce__(self):
        return eval, ("1 / 0",)


def case(seed, heads=3):
    """A label (x, y, z), and probabilities (C, x, y, z) that are too sure of it."""
    draws = np.random.default_rng(seed)
    z = draws.normal(0, 1.5, (heads, *SHAPE))
    p = np.exp(z) / np.exp(z).sum(0)
    label = (draws.random(SHAPE) < p.cumsum(0)).argmax(0).astype(np.uint8)
    sure = np.exp(2 * z)
    return label, (sure / sure.sum(0)).astype(np.float32)


def write_label(file, label, affine=AFFINE):
    file.parent.mkdir(parents=True, exist_ok=True)
    nibabel.save(nibabel.Nifti1Image(label, affine), file)


def write_prediction(folder, name, p, mask=None, affine=AFFINE):
    """nnU-Net's three files: probabilities (C, z, y, x), properties, mask."""
    folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(folder / f"{name}.npz", probabilities=p.transpose(0, 3, 2, 1))
    (folder / f"{name}.pkl").write_bytes(pickle.dumps(Unopened()))
    mask = p.argmax(0) if mask is None else mask
    write_label(folder / f"{name}.nii.gz", mask.astype(np.uint8), affine)


def write_descriptions(folder, labels=CLASSES, reader="SimpleITKIO"):
    folder.mkdir(parents=True, exist_ok=True)
    description = {"channel_names": {"0": "MRI"}, "labels": labels, "file_ending": ".nii.gz"}
    if labels is REGIONS:
        description["regions_class_order"] = [1, 2]
    (folder / "dataset.json").write_text(json.dumps(description))
    (folder / "plans.json").write_text(json.dumps({"image_reader_writer": reader}))


def write_summary(fold, names, labels):
    entries = [
        {
            "prediction_file": f"/where/it/was/{name}.nii.gz",
            "reference_file": str(labels / f"{name}.nii.gz"),
            "metrics": {},
        }
        for name in names
    ]
    (fold / "summary.json").write_text(json.dumps({"metric_per_case": entries}))


def trained_model(root, folds=((0, 1), (2, 3)), name="nnUNetTrainer__nnUNetPlans__3d_fullres"):
    """A model with the validation of its folds; the labels of its cases, and of one more."""
    model, labels = root / name, root / "gt_segmentations"
    write_descriptions(model)
    for number, seeds in enumerate(folds):
        fold = model / f"fold_{number}" / "validation"
        for seed in seeds:
            label, p = case(seed)
            write_prediction(fold, f"case_{seed}", p)
            write_label(labels / f"case_{seed}.nii.gz", label)
        write_summary(fold, [f"case_{seed}" for seed in seeds], labels)
    write_label(labels / "case_99.nii.gz", case(99)[0])
    return model, labels
