"""Random patches of a store's cases: which, from where, and as a stream of batches."""

from gradsurge.data.patches.cutting import cut_patch, read_arrays
from gradsurge.data.patches.foreground_turns import foreground_number, is_foreground_turn
from gradsurge.data.patches.placing import foreground_start, random_start
from gradsurge.data.patches.settings import PatchSettings
from gradsurge.data.patches.source import PatchBatch, PatchSource
from gradsurge.data.patches.stream import stream_batches

__all__ = [
    "PatchBatch",
    "PatchSettings",
    "PatchSource",
    "cut_patch",
    "foreground_number",
    "foreground_start",
    "is_foreground_turn",
    "random_start",
    "read_arrays",
    "stream_batches",
]
