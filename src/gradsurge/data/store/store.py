"""A store: prepared cases in a folder."""

from os import PathLike
from pathlib import Path
from typing import Self

from gradsurge.data.case_error import printable, shown
from gradsurge.data.store.dataset_file import NAME, DatasetFile, read_dataset_file
from gradsurge.data.store.places import case_folder
from gradsurge.data.store.stored_case import StoredCase


class Store:
    """The cases of a data set, as ``gradsurge prepare`` writes them.

    ```
    dataset.json              names, splits, settings, versions
    failures.json             cases that could not be prepared, if any
    cases/<case>/case.json    shape, spacing, grid, source files, statistics
    cases/<case>/image.b2nd   float32 (C, *S)
    cases/<case>/label.b2nd   uint8 (*S)
    cases/<case>/<extra>.b2nd
    cases/<case>/locations.npz
    ```

    Args:
        path: the folder.
        dataset: the content of its dataset.json.
    """

    def __init__(self, path: Path, dataset: DatasetFile) -> None:
        self.path = path
        self.dataset = dataset
        self._read: dict[str, StoredCase] = {}

    @classmethod
    def open(cls, path: str | PathLike[str]) -> Self:
        """Open a finished store.

        Raises:
            ValueError: it is none, damaged, not finished, or of another version.
        """
        folder = Path(path)
        try:
            dataset = read_dataset_file(folder)
        except OSError as error:
            raise ValueError(
                f"{shown(folder)}: not a store: {NAME}: {error.strerror or error}; "
                f"make one with gradsurge prepare"
            ) from error
        if not dataset.complete:
            raise ValueError(
                f"{shown(folder)}: its preparation did not finish; run the same gradsurge prepare "
                f"again, it goes on where it stopped"
            )
        return cls(folder, dataset)

    @property
    def cases(self) -> list[str]:
        """Names of the cases, in the order of the raw folder."""
        return list(self.dataset.cases)

    @property
    def splits(self) -> dict[str, list[str]]:
        """Split -> names of its cases that are there."""
        there = self.dataset.cases
        return {split: [c for c in names if c in there] for split, names in self._splits.items()}

    def split(self, name: str) -> list[str]:
        """Return the names of the cases of a split.

        Raises:
            ValueError: there is no such split.
        """
        if name not in self._splits:
            listed = ", ".join(self._splits)
            raise ValueError(f"{shown(self.path)}: no split {name!r}; there are: {listed}")
        return self.splits[name]

    def case(self, name: str) -> StoredCase:
        """Return a case; its facts are read once.

        Raises:
            ValueError: there is no such case.
            CaseError: it is damaged.
        """
        if name not in self._read:
            if name not in self.dataset.cases:
                raise ValueError(f"{shown(self.path)}: no case {printable(name)!r}")
            self._read[name] = StoredCase(
                case_folder(self.path, name),
                None if self.dataset.raw is None else Path(self.dataset.raw),
                self.dataset.ignore_label,
            )
        return self._read[name]

    @property
    def _splits(self) -> dict[str, list[str]]:
        return {split: list(names) for split, names in self.dataset.splits.items()}
