"""File formats: one a file, each returns a `StoredImage`; `read_stored` chooses by suffix."""

from gradsurge.data.formats.registry import READERS, read_stored, stem_of, suffix_of
from gradsurge.data.formats.stored import AxisOrder, StoredImage

__all__ = ["READERS", "AxisOrder", "StoredImage", "read_stored", "stem_of", "suffix_of"]
