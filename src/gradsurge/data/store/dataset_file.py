"""``dataset.json``: what is known of a store without looking at its cases."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from gradsurge.data.case_error import shown
from gradsurge.data.store.json_file import read_json, write_json

NAME = "dataset.json"
KIND = "gradsurge store"


@dataclass(frozen=True)
class DatasetFile:
    """The facts of a store.

    Attributes:
        name: of the data set.
        dimensions: 2 or 3.
        channel_names: of the images.
        label_names: class number -> name, 0 for background.
        label_sets: name -> class numbers, where regions overlap.
        ignore_label: class number that marks unknown voxels, if any.
        raw: the folder the cases came from; None for phantoms.
        settings: of the preprocessing.
        seed: of the splits.
        split_key: tells what the splits were made of, to keep them while that stays.
        splits: "train", "validation", "test" -> names of cases, those that failed among them.
        cases: names of the cases that are there -> their folders.
        complete: False while the store is being made.
        gradsurge: the version that made it.
        date: when, ISO 8601.
        title: what people call the data, where its files say so.
    """

    name: str
    dimensions: int
    channel_names: Sequence[str]
    label_names: Mapping[int, str]
    label_sets: Mapping[str, Sequence[int]]
    ignore_label: int | None
    raw: str | None
    settings: Mapping[str, Any]
    seed: int
    split_key: str
    splits: Mapping[str, Sequence[str]]
    cases: Mapping[str, str]
    complete: bool
    gradsurge: str
    date: str
    title: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return plain dictionaries and lists."""
        content: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        return content

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """Return what `to_json` was made of, also after a round trip through JSON.

        Raises:
            ValueError: something is missing or of another kind.
        """
        try:
            names = {int(n): name for n, name in stored["label_names"].items()}
            return cls(**{**stored, "label_names": names})
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise ValueError(f"damaged ({error})") from error


def same_but_date(one: DatasetFile | None, other: DatasetFile | None) -> bool:
    """Tell whether two say the same, whoever wrote them and when; tuples are lists in JSON."""
    said = []
    for facts in (one, other):
        content = {} if facts is None else asdict(facts)
        for name in ("gradsurge", "date"):
            content.pop(name, None)
        said.append(json.dumps(content, sort_keys=True))
    return said[0] == said[1]


def write_dataset_file(store: Path, dataset: DatasetFile) -> None:
    """Write it into the folder of a store."""
    write_json(store / NAME, KIND, asdict(dataset))


def read_dataset_file(store: Path) -> DatasetFile:
    """Read it from the folder of a store.

    Raises:
        FileNotFoundError: there is none.
        ValueError: it is damaged, or of another version.
    """
    stored = read_json(store / NAME, KIND)
    del stored["format"], stored["version"]
    try:
        return DatasetFile.from_json(stored)
    except ValueError as error:
        raise ValueError(f"{shown(store / NAME)}: {error}") from error
