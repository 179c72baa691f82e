"""Small stores of given cases."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsurge.data.datasets import Dataset, Found, RawCase
from gradsurge.data.phantoms import make_phantom
from gradsurge.data.prepared import PreparedCase
from gradsurge.data.store import Store
from gradsurge.experiments.preparing import prepare


class Given(Dataset):
    """Cases at hand, all of them for training."""

    name = "given"

    def __init__(self, cases: Mapping[str, PreparedCase], ignore_label: int | None = None) -> None:
        first = next(iter(cases.values()))
        self.given = cases
        self.dimensions = first.label.ndim
        self.channel_names = [f"channel {i}" for i in range(len(first.image))]
        self.label_names = {0: "background", 1: "one", 2: "two", 3: "three"}
        self.ignore_label = ignore_label

    def find(self, raw: Path) -> Found:
        return Found([RawCase(name, name, {}) for name in self.given])

    def load(self, case: RawCase) -> PreparedCase:
        return self.given[case.name]

    def split(self, cases: Sequence[RawCase], seed: int) -> dict[str, list[str]]:
        return {"train": [case.name for case in cases]}

    @property
    def settings(self) -> dict[str, Any]:
        return {}


def make_store(
    folder: Path, cases: Sequence[PreparedCase], ignore_label: int | None = None
) -> Store:
    """Write the cases into a store and open it."""
    dataset = Given({case.name: case for case in cases}, ignore_label)
    done = prepare(dataset, folder, folder / "store")
    assert not done.failures, done.failures
    return Store.open(folder / "store")


def case_of(
    name: str, label: NDArray[np.uint8], image: NDArray[np.float32] | None = None, **extras: Any
) -> PreparedCase:
    """Return a case of a label, its image noise unless given."""
    if image is None:
        rng = np.random.default_rng(len(name))
        image = rng.standard_normal((1, *label.shape), dtype=np.float32)
    return PreparedCase(name, image, label, (1.0,) * label.ndim, extras=extras)


def phantom_store(folder: Path, phantom: str, cases: int, size: Sequence[int]) -> Store:
    """Return a store of phantoms with their posteriors."""
    made = [make_phantom(phantom, i, 0, size) for i in range(cases)]
    return make_store(
        folder,
        [
            PreparedCase(c.name, c.image, c.label, c.spacing, extras={"posterior": c.posterior})
            for c in made
        ],
    )
