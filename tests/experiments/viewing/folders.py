"""Folders of predictions as `gradsurge predict` writes them, made by hand."""

import json

import nibabel
import numpy as np

# Neither RAS nor square.
AFFINE = np.array([[0, -2, 0, 7.3], [1.5, 0, 0, -3.1], [0, 0, -3, 11.7], [0, 0, 0, 1.0]])
SHAPE = (9, 11, 7)


def save(file, array, affine=AFFINE):
    file.parent.mkdir(parents=True, exist_ok=True)
    nibabel.save(nibabel.Nifti1Image(array, affine), file)
    return file


def about(channels=("lesion",), kind="binary", correction="none", thresholds=None, **more):
    """The content of predictions.json, without cases."""
    foreground = channels[1:] if kind == "multiclass" else channels
    probabilities = {"channels": list(channels), "kind": kind, "regions": None}
    return {
        "format": "gradsurge predictions",
        "version": 1,
        "complete": True,
        "input": "images",
        "runs": [{"run": "runs/some", "step": 40, "correction": correction}],
        "probabilities": {**probabilities, "source_classes": None, **more},
        "mask": {
            "rule": "likeliest class",
            "thresholds": thresholds,
            "numbers": {name: n for n, name in enumerate(foreground, start=1)},
        },
    }


def prediction_folder(root, name="pred", cases=("a", "b"), told=None, seed=0, images=True):
    """Two cases of random volumes, their scans in ``images``; returns the folder."""
    told = about() if told is None else told
    rng = np.random.default_rng(seed)
    channels, folder, listed = len(told["probabilities"]["channels"]), root / name, []
    for case in cases:
        p = rng.random((*SHAPE, channels)).astype(np.float32)
        p = p / p.sum(-1, keepdims=True) if channels > 1 else p[..., 0]
        mask = rng.integers(0, max(channels, 2), SHAPE).astype(np.uint8)
        save(folder / f"{case}.nii.gz", p)
        save(folder / "masks" / f"{case}.nii.gz", mask)
        files = {"probabilities": f"{case}.nii.gz", "mask": f"masks/{case}.nii.gz"}
        listed.append({"case": case, **files})
        if images:
            image = np.random.default_rng(99).normal(40, 9, SHAPE).astype(np.float32)
            save(root / "images" / f"{case}_0000.nii.gz", image)
    (folder / "predictions.json").write_text(json.dumps({**told, "cases": listed}))
    return folder
