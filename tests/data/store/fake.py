"""A data set of .npy files, cases to store, and a look at every byte of a folder."""

import hashlib
from pathlib import Path

import numpy as np

from gradsurge.data import CaseError
from gradsurge.data.datasets import Dataset, Found, InputKind, RawCase
from gradsurge.data.grid import Grid
from gradsurge.data.prepared import PreparedCase, PreparedImage

SHAPE = (20, 33, 18)
GRID = Grid(
    source_shape=(40, 33, 18),
    source_spacing=(0.5, 1.0, 2.0),
    source_affine=tuple(tuple(row) for row in np.diag([0.5, 1.0, 2.0, 1.0]).tolist()),
    axes=(0, 1, 2),
    flips=(True, False, False),
    resampled_shape=(20, 33, 18),
    crop=((0, 20), (0, 33), (-1, 17)),
)


class FakeSet(Dataset):
    """``<case>.image.npy`` (2, *S) and ``<case>.label.npy`` (*S) of a folder."""

    name = "fake"
    dimensions = 3
    channel_names = ("first", "second")
    label_names = {0: "background", 1: "organ", 2: "lesion"}  # noqa: RUF012
    ignore_label = 9

    def __init__(self, factor=1.0):
        self.factor = factor
        self.splits_made = 0

    def find(self, raw):
        files = sorted(raw.glob("*.image.npy"))
        cases, problems = [], []
        for image in files:
            name = image.name.removesuffix(".image.npy")
            label = image.with_name(f"{name}.label.npy")
            if label.exists():
                cases.append(RawCase(name, name, {"image": image, "label": label}))
            else:
                problems.append((name, "has no label; add one"))
        return Found(cases, problems)

    def load(self, case):
        return self.load_image(case).with_label(np.load(case.files["label"]))

    def load_image(self, case):
        image = np.load(case.files["image"])
        if not image.any():
            raise CaseError(f"{case.files['image']}: an empty scan; replace it")
        return PreparedImage(case.name, image * np.float32(self.factor), (1.0, 1.0, 2.0), GRID)

    @property
    def inputs(self):
        return InputKind(self.channel_names, (".npy",))

    def split(self, cases, seed):
        self.splits_made += 1
        names = [case.name for case in cases]
        order = np.random.default_rng(seed).permutation(len(names))
        shuffled = [names[i] for i in order]
        return {"train": shuffled[2:], "validation": shuffled[:1], "test": shuffled[1:2]}

    @property
    def settings(self):
        return {"factor": self.factor}


def arrays(seed=0, shape=SHAPE):
    """An image and a label of all the classes, the ignored one too."""
    rng = np.random.default_rng(seed)
    label = rng.choice([0, 1, 2, 9], shape, p=[0.8, 0.1, 0.05, 0.05]).astype(np.uint8)
    return rng.normal(size=(2, *shape)).astype(np.float32), label


def prepared(name="case 1", seed=0, **fields):
    image, label = arrays(seed)
    given = {"image": image, "label": label, "spacing": (1.0, 1.0, 2.0), "grid": GRID, **fields}
    return PreparedCase(name, **given)


def add_raw(raw: Path, name: str, seed=0):
    raw.mkdir(parents=True, exist_ok=True)
    image, label = arrays(seed)
    np.save(raw / f"{name}.image.npy", image)
    np.save(raw / f"{name}.label.npy", label)


def contents(folder: Path) -> dict[str, str]:
    """Every file below a folder, hidden ones too, with a hash of its bytes."""
    return {
        str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def times(folder: Path) -> dict[str, int]:
    """Every file below a folder with its last change."""
    return {str(f): f.stat().st_mtime_ns for f in folder.rglob("*") if f.is_file()}
