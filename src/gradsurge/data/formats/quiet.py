"""Libraries that print about a damaged file: collect what they say instead."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def complaints(logger: logging.Logger) -> Iterator[list[str]]:
    """Keep a logger silent and yield the list to which its warnings and errors go.

    >>> with complaints(logging.getLogger("loud")) as said:
    ...     logging.getLogger("loud").warning("page %d is missing", 7)
    >>> said
    ['page 7 is missing']
    """
    said: list[str] = []

    def collect(record: logging.LogRecord) -> bool:
        if record.levelno >= logging.WARNING:
            said.append(record.getMessage())
        return False

    logger.addFilter(collect)
    try:
        yield said
    finally:
        logger.removeFilter(collect)
