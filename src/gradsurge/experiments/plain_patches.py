"""Patches as a training draws them, without its augmentation: for measuring, not for learning."""

from collections.abc import Iterator

from gradsurge.data.patches import PatchBatch, PatchSettings, PatchSource, stream_batches
from gradsurge.data.store import Store


def plain_patches(
    store: Store, split: str, settings: PatchSettings, steps: int, seed: int
) -> Iterator[PatchBatch]:
    """Yield so many batches of a split's cases."""
    source = PatchSource(store, store.split(split), settings, "none")
    yield from stream_batches(source, seed, 0, steps)
