"""Arrays at hand as a data set of ours, those that nnU-Net preprocessed among them."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gradsurge.data.datasets import Dataset, Found, RawCase
from gradsurge.data.prepared import PreparedCase
from gradsurge.data.store import Store
from gradsurge.experiments.preparing import prepare


class Volumes(Dataset):
    """Cases at hand, or arrays that nnU-Net preprocessed, as a data set of ours."""

    name = "volumes"
    dimensions = 3

    def __init__(self, channels: int, labels: Mapping[int, str], load: Mapping[str, Any]) -> None:
        self.channel_names = [str(i) for i in range(channels)]
        self.label_names = labels
        self.cases = load

    def find(self, raw: Path) -> Found:
        return Found([RawCase(name, name, {}) for name in self.cases])

    def load(self, case: RawCase) -> PreparedCase:
        found: PreparedCase = self.cases[case.name]()
        return found

    def split(self, cases: Sequence[RawCase], seed: int) -> dict[str, list[str]]:
        return {"train": [case.name for case in cases]}

    @property
    def settings(self) -> dict[str, Any]:
        return {}


def store_of_nnunets(raw: Path, folder: Path, out: Path) -> Store:
    """Write the arrays that nnU-Net preprocessed into a store of ours."""
    import blosc2

    facts = json.loads((raw / "dataset.json").read_text())

    def load(name: str) -> PreparedCase:
        image = blosc2.open(str(folder / f"{name}.b2nd"), mode="r")[:]
        label = np.maximum(blosc2.open(str(folder / f"{name}_seg.b2nd"), mode="r")[0], 0)
        return PreparedCase(name, image, label.astype(np.uint8), (1.0, 1.0, 1.0))

    names = sorted(file.stem for file in folder.glob("*.pkl"))
    labels = {number: name for name, number in facts["labels"].items()}
    cases = {name: (lambda name=name: load(name)) for name in names}
    done = prepare(Volumes(len(facts["channel_names"]), labels, cases), raw, out)
    if done.failures:
        sys.exit(f"could not store nnU-Net's cases: {done.failures}")
    return Store.open(out)
