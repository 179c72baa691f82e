"""Small cases whose every voxel is known."""

from pathlib import Path

import numpy as np

from gradsurge.experiments.viewing.case_view import CaseView, ModelView
from gradsurge.experiments.viewing.laid_out import lay_out
from gradsurge.experiments.viewing.scan import Scan
from gradsurge.experiments.viewing.structure import Structure, exclusive

SHAPE = (16, 20, 12)
# The first axis runs from right to left, the second upwards, the third forward.
AFFINE = np.array([[-1.5, 0, 0, 20.0], [0, 0, 1.0, -4.0], [0, 2.0, 0, 3.0], [0, 0, 0, 1.0]])


def ball(centre, radius):
    places = np.indices(SHAPE).reshape(3, -1).T - np.array(centre)
    return (np.sqrt((places**2).sum(1)) <= radius).reshape(SHAPE)


def volume_view(names=("dice", "surgery"), case="case_7", notes=()):
    """Two classes; the first model is sure of itself, the second is not."""
    label = np.zeros(SHAPE, np.uint8)
    label[ball((6, 8, 6), 4)] = 1
    label[ball((11, 12, 6), 3)] = 2
    rng = np.random.default_rng(0)
    models = []
    for number, name in enumerate(names):
        sure = (6.0, 1.5)[number % 2]
        logits = np.stack([np.where(label == c, sure, 0.0) for c in range(3)])
        logits += rng.normal(0, 0.8, logits.shape)
        maps = np.exp(logits) / np.exp(logits).sum(0)
        mask = maps.argmax(0).astype(np.uint8)
        facts = (("Model", f"run {name}"), ("Map", "no correction"))
        structures = exclusive(["kidney", "tumour"])
        models.append(ModelView(name, maps.astype(np.float32), mask, structures, facts))
    values = (40.0 + 10 * label + np.arange(SHAPE[0])[:, None, None]).astype(np.float32)
    scan = Scan(values, False, None, AFFINE, Path("case_0000.nii.gz"), "case_0000.nii.gz")
    layout = lay_out(SHAPE, AFFINE)
    return CaseView(case, layout, scan, label, "case.nii.gz", tuple(models), notes)


def picture_view(height=24, width=32):
    """A picture in colours: red above, blue below, and a map that rises from left to right."""
    pixels = np.zeros((3, height, width), np.uint8)
    pixels[0, : height // 2] = 255
    pixels[2, height // 2 :] = 255
    p = np.broadcast_to(np.linspace(0, 1, width, dtype=np.float32), (height, width)).copy()
    scan = Scan(pixels, True, None, None, Path("eye.png"), "eye.png")
    model = ModelView("net", p[None], None, (Structure("vessel", 0, None, None),))
    return CaseView("eye", lay_out((height, width), None), scan, None, "", (model,))
