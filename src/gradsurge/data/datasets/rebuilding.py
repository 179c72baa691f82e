"""The data set a store was prepared with, from what the store says of itself."""

from typing import TYPE_CHECKING

from gradsurge.data.case_error import printable

if TYPE_CHECKING:  # the store imports the data sets
    from gradsurge.data.datasets.dataset import Dataset
    from gradsurge.data.store.dataset_file import DatasetFile


def dataset_of_store(facts: "DatasetFile") -> "Dataset":
    """Return the data set a store was prepared with, so that new images are prepared alike.

    Name and settings are all it takes: neither the store nor the raw folder need be there.

    Args:
        facts: of the store, or what a checkpoint keeps of them.

    Raises:
        ValueError: unknown to this gradsurge, or prepared in another way than this one does.
    """
    from gradsurge.data.datasets import DATASETS
    from gradsurge.data.datasets.phantom_set import PhantomSet
    from gradsurge.data.phantoms import PHANTOMS

    kind = PhantomSet if facts.name in PHANTOMS else DATASETS.get(facts.name)
    if kind is None:
        known = ", ".join((*DATASETS, *PHANTOMS))
        raise ValueError(f"unknown data set {printable(facts.name)!r}; known: {known}")
    try:
        dataset = kind.of_store(facts)
        same = dataset.settings == dict(facts.settings)
    except (LookupError, TypeError, AttributeError, ValueError):
        same = False
    if not same:
        raise ValueError(
            f"{facts.name}: the store was prepared by gradsurge {printable(facts.gradsurge)} with "
            f"other settings than this version has; use that version, or prepare and train anew"
        )
    return dataset
