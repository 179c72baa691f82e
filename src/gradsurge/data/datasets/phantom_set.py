"""Phantoms as a data set, so that they are prepared like any other."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from gradsurge.data.datasets.dataset import Dataset
from gradsurge.data.datasets.inputs import InputKind
from gradsurge.data.datasets.raw_case import Found, RawCase
from gradsurge.data.datasets.scans import first_channel, read_channels
from gradsurge.data.phantoms import PHANTOMS, make_phantom
from gradsurge.data.phantoms.catalogue import SMALLEST
from gradsurge.data.prepared import PreparedCase, PreparedImage
from gradsurge.data.preprocessing import image_onto_grid, native_grid, prepared_spacing

if TYPE_CHECKING:  # the store imports the data sets
    from gradsurge.data.store.dataset_file import DatasetFile

# By number, not by share: a store that grows moves no case to another split.
_SPLITS = ("train", "train", "train", "validation", "test")


class PhantomSet(Dataset):
    """Phantoms number 0 to ``cases`` - 1 of a kind; three in five are for training.

    The posterior of the foreground classes is stored as the extra "posterior" (K, *S). Images of
    phantoms are taken as they are, also those that `find_images` finds: phantoms written to files.

    Args:
        phantom: one of `gradsurge.data.phantoms.PHANTOMS`.
        cases: how many.
        size: voxels along each axis; the phantom's own if left out.
        seed: another seed, other cases.

    Raises:
        ValueError: there is no such phantom, no case, or no such size.
    """

    name = "phantoms"

    def __init__(
        self, phantom: str, cases: int, size: Sequence[int] | None = None, seed: int = 0
    ) -> None:
        if phantom not in PHANTOMS:
            raise ValueError(f"phantom: unknown {phantom!r}; known: {', '.join(PHANTOMS)}")
        if cases < 1:
            raise ValueError(f"cases: expected at least 1, got {cases}")
        facts = PHANTOMS[phantom]
        if size is not None and (len(size) != len(facts.grid.size) or min(size) < SMALLEST):
            raise ValueError(
                f"size: {phantom} has {len(facts.grid.size)} axes of at least {SMALLEST} voxels, "
                f"got {','.join(map(str, size))}"
            )
        self.name = phantom  # type: ignore[misc] # one class, as many data sets as phantoms
        self.cases = cases
        self.seed = seed
        self.size = tuple(facts.grid.size if size is None else size)
        self.dimensions = len(facts.grid.size)
        self.channel_names = facts.channels
        self.label_names = dict(enumerate(facts.classes))

    def find(self, raw: Path) -> Found:
        """Return the cases; phantoms have no raw folder."""
        names = [f"{self.name}_seed{self.seed}_{index:05d}" for index in range(self.cases)]
        return Found([RawCase(name, name, {}, _SPLITS[i % 5]) for i, name in enumerate(names)])

    def load(self, case: RawCase) -> PreparedCase:
        """Make a case."""
        index = int(case.name.rpartition("_")[2])
        made = make_phantom(self.name, index, self.seed, self.size)
        image = PreparedImage(case.name, made.image, made.spacing, None)
        return image.with_label(made.label, {"posterior": made.posterior})

    def load_image(self, case: RawCase) -> PreparedImage:
        """Return the image of a case, made or, if it has files, read."""
        if not case.files:
            return super().load_image(case)
        scan = read_channels(list(case.files.values()), self.dimensions)
        grid = native_grid(first_channel(scan))
        kept = image_onto_grid(scan.array, grid)
        return PreparedImage(case.name, kept, prepared_spacing(grid), grid)

    @property
    def inputs(self) -> InputKind:
        """Floats are kept as they are by NIfTI, NumPy and TIFF."""
        suffixes = (".nii.gz", ".nii", ".npy", ".tif", ".tiff")
        return InputKind(self.channel_names, suffixes, numbered=True)

    def split(self, cases: Sequence[RawCase], seed: int) -> dict[str, list[str]]:
        """Return the splits, which do not depend on the seed: cases are independent draws."""
        return {
            split: [case.name for case in cases if case.split == split]
            for split in dict.fromkeys(_SPLITS)
        }

    @property
    def settings(self) -> dict[str, Any]:
        """Seed and size."""
        return {"seed": self.seed, "size": list(self.size)}

    @classmethod
    def of_store(cls, facts: "DatasetFile") -> Self:
        """Return the phantoms of a store."""
        settings = facts.settings
        return cls(facts.name, max(len(facts.cases), 1), settings["size"], settings["seed"])
