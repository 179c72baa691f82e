"""The paper's eight tables as data: what was printed, not what should have been."""

from gradsurge.experiments.published.reading import TABLES, published_table
from gradsurge.experiments.published.tables import (
    Mark,
    PublishedBlock,
    PublishedCell,
    PublishedNote,
    PublishedRow,
    PublishedTable,
)

__all__ = [
    "TABLES",
    "Mark",
    "PublishedBlock",
    "PublishedCell",
    "PublishedNote",
    "PublishedRow",
    "PublishedTable",
    "published_table",
]
