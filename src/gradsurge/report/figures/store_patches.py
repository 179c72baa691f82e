"""Which patches of a store a gallery shows."""

from collections.abc import Sequence

import numpy as np

from gradsurge.data.augmentation import make_augmentation
from gradsurge.data.case_error import shown as printed
from gradsurge.data.store import Store
from gradsurge.report.figures.patch_gallery import Row, compute

_LARGEST = {2: 320, 3: 128}  # voxels along a side, by dimensions
_COLOUR_CHANNELS = ["red", "green", "blue"]


def rows_of_store(
    store: Store,
    augmentation: str = "nnunet",
    size: Sequence[int] | None = None,
    number: int = 4,
    seed: int = 0,
) -> list[Row]:
    """Compute the rows of the first training cases of a store that have foreground.

    Args:
        store: where the cases are.
        augmentation: "nnunet", "light" or "none".
        size: of the patches; None for a good half of the usual case, which shows the borders too.
        number: of rows.
        seed: of the places and the augmentation.

    Raises:
        ValueError: the size has another number of axes, or there is no case.
    """
    names = [*store.split("train"), *store.cases]
    cases = [store.case(name) for name in dict.fromkeys(names)]
    shown = [case for case in cases if case.foreground > 0][:number] or cases[:number]
    if not shown:
        raise ValueError(f"{printed(store.path)}: the store has no case; prepare it again")
    if size is None:
        usual = np.median([case.shape for case in cases], axis=0)
        most = _LARGEST[store.dataset.dimensions]
        size = [min(most, max(8, round(0.6 * n))) for n in usual]
    if len(size) != store.dataset.dimensions:
        raise ValueError(
            f"size: the store's cases have {store.dataset.dimensions} axes, got {tuple(size)}"
        )
    channels = 3 if [c.lower() for c in store.dataset.channel_names] == _COLOUR_CHANNELS else 1
    made = make_augmentation(augmentation, tuple(size))
    return compute(shown, made, seed=seed, channels=channels)
