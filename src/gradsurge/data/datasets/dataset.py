"""What every data set tells: its cases, how one is prepared, and how they are split."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from gradsurge.data.prepared import PreparedCase


@dataclass(frozen=True)
class RawCase:
    """The files of a case.

    Attributes:
        name: unique in the data set.
        group: cases of one group (a patient) never lie in different splits.
        files: role ("image", "image_1", "label", "label_2", ...) -> file.
        split: the split its publisher fixed, if any.
    """

    name: str
    group: str
    files: Mapping[str, Path]
    split: str | None = None


@dataclass(frozen=True)
class Found:
    """Cases of a raw folder, and (case or file, message) of what cannot be one."""

    cases: list[RawCase]
    problems: list[tuple[str, str]] = field(default_factory=list)


class Dataset(ABC):
    """A data set in its published layout.

    Instances are cheap and can be sent to other processes. Names are registered in
    `gradsurge.data.datasets.DATASETS`.

    Attributes:
        name: as on the command line.
        dimensions: 2 or 3.
        channel_names: of the prepared image.
        label_names: class number -> name, 0 for background.
        label_sets: name -> class numbers, for regions that overlap (nnU-Net's region training);
            empty where classes exclude each other.
        ignore_label: class number that marks unknown voxels; None if there is none.
    """

    name: ClassVar[str]
    dimensions: int
    channel_names: Sequence[str]
    label_names: Mapping[int, str]
    label_sets: Mapping[str, Sequence[int]] = {}
    ignore_label: int | None = None

    @abstractmethod
    def find(self, raw: Path) -> Found:
        """Return the cases of a raw folder, in natural order.

        Raises:
            ValueError: the folder is not of this data set; one line that says what was expected.
        """

    @abstractmethod
    def load(self, case: RawCase) -> PreparedCase:
        """Read and preprocess one case.

        Raises:
            CaseError: whatever is wrong with its files.
        """

    @abstractmethod
    def split(self, cases: Sequence[RawCase], seed: int) -> dict[str, list[str]]:
        """Return "train", "validation" and "test" -> names of cases; groups stay together.

        Called after all cases are found, before any is loaded; what needs the label (KiTS: size
        and number of tumours) may read it here.
        """

    @property
    def split_settings(self) -> dict[str, Any]:
        """What `split` depends on beside cases and seed, as plain JSON; known after `find`."""
        return {}

    @property
    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """What `load` depends on, as plain JSON: a change of it prepares the cases anew."""
