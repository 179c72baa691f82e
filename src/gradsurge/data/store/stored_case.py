"""One case of a store: facts at once, arrays box by box."""

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsurge.data.grid import Grid
from gradsurge.data.store.array_file import check_array, read_array
from gradsurge.data.store.boxes import Box, check_box, read_padded
from gradsurge.data.store.case_file import CaseFile, read_case_file
from gradsurge.data.store.locations import Locations, read_locations
from gradsurge.data.store.places import LOCATIONS, array_file


class StoredCase:
    """A case of a store. Nothing stays open, so it can be sent to other processes.

    A box is (start, stop) along each axis of S. It may reach outside of the case: there the image
    and the extras are 0, which is the mean of a z-scored image, and the label is the ignore label
    if the data set has one, background otherwise, as in nnU-Net.

    Args:
        folder: of the case.
        raw: the raw folder; None for phantoms.
        ignore_label: of the data set.
    """

    def __init__(self, folder: Path, raw: Path | None = None, ignore_label: int | None = None):
        self.folder = folder
        self.facts: CaseFile = read_case_file(folder)
        self._raw = raw
        self._outside = 0 if ignore_label is None else ignore_label

    @property
    def name(self) -> str:
        """The name of the case."""
        return self.facts.name

    @property
    def shape(self) -> tuple[int, ...]:
        """S."""
        return self.facts.shape

    @property
    def spacing(self) -> tuple[float, ...]:
        """Voxel size along each axis of S, mm."""
        return self.facts.spacing

    @property
    def grid(self) -> Grid | None:
        """Where S lies in the source; None for phantoms."""
        return self.facts.grid

    @property
    def foreground(self) -> float:
        """Share of foreground among the known voxels."""
        return self.facts.foreground

    @property
    def extras(self) -> tuple[str, ...]:
        """Names of the further arrays."""
        return tuple(name for name in self.facts.arrays if name not in ("image", "label"))

    @property
    def source_files(self) -> dict[str, Path]:
        """Role -> raw file."""
        raw = self._raw or Path()
        return {role: raw / source.file for role, source in self.facts.stamp.sources.items()}

    @cached_property
    def locations(self) -> Locations:
        """Class number -> voxel indices (n, axes): up to some thousand of each foreground class."""
        return read_locations(self.folder / LOCATIONS, len(self.shape))

    def read_image(self, box: Box | None = None) -> NDArray[np.float32]:
        """Return float32 (C, *box), or all of it."""
        return self._read("image", box, 0)

    def read_label(self, box: Box | None = None) -> NDArray[np.uint8]:
        """Return uint8 (*box), or all of it."""
        return self._read("label", box, self._outside)

    def read_extra(self, name: str, box: Box | None = None) -> NDArray[Any]:
        """Return (*box) or (K, *box) of a further array, or all of it.

        Raises:
            ValueError: there is none of that name.
        """
        if name not in self.extras:
            listed = ", ".join(self.extras) or "none"
            raise ValueError(f"{self.name}: no extra {name!r}; there are: {listed}")
        return self._read(name, box, 0)

    def check(self) -> None:
        """Read everything and compare checksums.

        Raises:
            CaseError: a file is missing or damaged.
        """
        for name, facts in self.facts.arrays.items():
            check_array(array_file(self.folder, name), facts)
        read_locations(self.folder / LOCATIONS, len(self.shape))

    def _read(self, name: str, box: Box | None, outside: int) -> NDArray[Any]:
        facts = self.facts.arrays[name]
        file = array_file(self.folder, name)
        channels = [slice(None)] * (len(facts.shape) - len(self.shape))
        if box is None:
            box = [(0, n) for n in self.shape]
        return read_padded(
            lambda slices: read_array(file, facts, [*channels, *slices]),
            check_box(box, self.shape),
            self.shape,
            outside,
        )
