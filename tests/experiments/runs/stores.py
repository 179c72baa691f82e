"""Small stores to train on, made in a moment."""

from pathlib import Path

import numpy as np

from gradsurge.data.datasets import Dataset, Found, RawCase
from gradsurge.data.prepared import PreparedCase
from gradsurge.data.store import Store
from gradsurge.experiments.preparing import prepare

SPLITS = ("train", "train", "train", "validation", "validation", "test")


class Discs(Dataset):
    """Bright discs in noise; inside of each a brighter core. Two classes, as told."""

    name = "discs"
    dimensions = 2
    channel_names = ("intensity",)

    def __init__(self, classes=1, regions=False, ignore=False, cases=6, side=24):
        self.classes, self.regions, self.ignore = classes, regions, ignore
        self.cases, self.side = cases, side
        self.label_names = dict(enumerate(("background", "disc", "core")[: classes + 1]))
        self.label_sets = {"whole": (1, 2), "core": (2,)} if regions else {}
        self.ignore_label = classes + 1 if ignore else None

    def find(self, raw: Path) -> Found:
        names = [f"disc{i}" for i in range(self.cases)]
        return Found([RawCase(name, name, {}, SPLITS[i % 6]) for i, name in enumerate(names)])

    def load(self, case: RawCase) -> PreparedCase:
        rng = np.random.default_rng(int(case.name[4:]))
        centre, radius = rng.uniform(8, self.side - 8, 2), rng.uniform(4, 6)
        grid = np.stack(np.meshgrid(*[np.arange(self.side)] * 2, indexing="ij"))
        distance = np.sqrt(((grid - centre[:, None, None]) ** 2).sum(0))
        label = (distance < radius).astype(np.uint8)
        image = label + rng.normal(0, 0.4, label.shape)
        if self.classes == 2:
            core = distance < radius / 2
            image, label = image + core, label + core.astype(np.uint8)
        if self.ignore:
            label[:, :3] = self.ignore_label
        return PreparedCase(case.name, image[None].astype(np.float32), label, (1.0, 1.0))

    def split(self, cases, seed):
        return {
            split: [case.name for case in cases if case.split == split]
            for split in dict.fromkeys(SPLITS)
        }

    @property
    def settings(self):
        return {}


def disc_store(folder, **options):
    done = prepare(Discs(**options), folder, folder / "store")
    assert not done.failures, done.failures
    return Store.open(folder / "store")
