"""What a stored case was made of, to tell whether it must be made again."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from gradsurge.data.datasets import Dataset, RawCase
from gradsurge.data.store.json_file import VERSION


@dataclass(frozen=True)
class SourceFile:
    """A raw file: its place (below the raw folder where it lies there), size and last change."""

    file: str
    bytes: int
    mtime_ns: int


@dataclass(frozen=True)
class Stamp:
    """The raw files of a case by role, and the hash of the settings it was prepared with."""

    sources: Mapping[str, SourceFile]
    settings: str

    def to_json(self) -> dict[str, Any]:
        """Return plain dictionaries."""
        return asdict(self)

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Self:
        """Return what `to_json` was made of."""
        sources = {role: SourceFile(**facts) for role, facts in stored["sources"].items()}
        return cls(sources, stored["settings"])


def stamp_case(case: RawCase, raw: Path, settings: str) -> Stamp:
    """Look at the files of a case.

    Args:
        case: its files.
        raw: the raw folder; it may be moved without preparing anything anew.
        settings: from `settings_hash`.

    Raises:
        OSError: a file is missing.
    """
    return Stamp({role: _source(file, raw) for role, file in case.files.items()}, settings)


def settings_hash(dataset: Dataset) -> str:
    """Return a hash of everything a prepared case depends on but its files."""
    everything = {
        "store": VERSION,
        "name": dataset.name,
        "dimensions": dataset.dimensions,
        "channels": list(dataset.channel_names),
        "labels": [[number, name] for number, name in sorted(dataset.label_names.items())],
        "sets": {name: list(numbers) for name, numbers in dataset.label_sets.items()},
        "ignore": dataset.ignore_label,
        "settings": dataset.settings,
    }
    text = json.dumps(everything, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _source(file: Path, raw: Path) -> SourceFile:
    status = file.stat()
    place = file.relative_to(raw) if file.is_relative_to(raw) else file
    return SourceFile(str(place), status.st_size, status.st_mtime_ns)
