"""What every data set tells: its cases, how one is prepared, and how they are split."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from gradsurge.data.datasets.inputs import NIFTI, InputKind, find_inputs
from gradsurge.data.datasets.raw_case import Found, RawCase
from gradsurge.data.formats.picture import PICTURES
from gradsurge.data.prepared import PreparedCase, PreparedImage

if TYPE_CHECKING:  # the store imports the data sets
    from gradsurge.data.store.dataset_file import DatasetFile


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
        tells_size: whether its files say how large a pixel or voxel is; lengths are pixels if not.
        title: what people call the data; the name unless its files say otherwise.
    """

    name: ClassVar[str]
    dimensions: int
    channel_names: Sequence[str]
    label_names: Mapping[int, str]
    label_sets: Mapping[str, Sequence[int]] = {}
    ignore_label: int | None = None
    tells_size: ClassVar[bool] = True

    @abstractmethod
    def find(self, raw: Path) -> Found:
        """Return the cases of a raw folder, in natural order.

        Raises:
            ValueError: the folder is not of this data set; one line that says what was expected.
        """

    @abstractmethod
    def load(self, case: RawCase) -> PreparedCase:
        """Read and preprocess one case: `load_image`, and the label on the same grid.

        Raises:
            CaseError: whatever is wrong with its files.
        """

    def load_image(self, case: RawCase) -> PreparedImage:
        """Read and preprocess an image as `load` does; no label is needed.

        Where a region is cut out by the label (KiTS) and the case has none, the whole image is
        kept; intensities never depend on the label. (This one is for data sets whose cases are
        made with their labels; those of files have their own.)

        Raises:
            CaseError: whatever is wrong with its files.
        """
        made = self.load(case)
        return PreparedImage(made.name, made.image, made.spacing, made.grid)

    def find_images(self, folder: Path) -> Found:
        """Return the images of a folder, or the one of a file, for prediction; labels play no part.

        Raises:
            ValueError: nothing is there that could be one; one line that says what was expected.
        """
        return find_inputs(Path(folder), self.inputs)

    @property
    def inputs(self) -> InputKind:
        """What files `find_images` looks for: pictures, or NIfTI and DICOM volumes."""
        if self.dimensions == 2:
            return InputKind(self.channel_names, PICTURES)
        return InputKind(self.channel_names, NIFTI, numbered=True, series=True)

    @abstractmethod
    def split(self, cases: Sequence[RawCase], seed: int) -> dict[str, list[str]]:
        """Return "train", "validation" and "test" -> names of cases; groups stay together.

        Called after all cases are found, before any is loaded; what needs the label (KiTS: size
        and number of tumours) may read it here.
        """

    def watched_split(
        self, cases: Sequence[RawCase], seed: int, on_case: Callable[[int, int], None]
    ) -> dict[str, list[str]]:
        """Return `split`; where that reads files, ``on_case`` is called with (done, of all)."""
        return self.split(cases, seed)

    @property
    def split_settings(self) -> dict[str, Any]:
        """What `split` depends on beside cases and seed, as plain JSON; known after `find`."""
        return {}

    @property
    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """What `load` depends on, as plain JSON: a change of it prepares the cases anew."""

    @property
    def title(self) -> str:
        """What people call the data."""
        return self.name

    @classmethod
    def of_store(cls, facts: "DatasetFile") -> Self:
        """Return the data set that a store was prepared with, able to load images for it.

        `gradsurge.data.datasets.dataset_of_store` checks that the settings are the store's.
        """
        return cls()
