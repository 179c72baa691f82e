"""The files of a case before it is prepared."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class RawCase:
    """The files of a case.

    Attributes:
        name: unique in the data set.
        group: cases of one group (a patient) never lie in different splits.
        files: role ("image", "image_1", "label", "label_2", ...) -> file; of DICOM volumes the
            folder of the slices.
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
