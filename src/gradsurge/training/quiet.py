"""Remarks of torch and Fabric that a user can do nothing about."""

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quiet() -> Iterator[None]:
    """Silence warnings that torch and Fabric raise about their own workings."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"(torch|lightning_fabric|lightning_utilities)\b")
        warnings.filterwarnings("ignore", message=".*does not have a deterministic implementation")
        logger = logging.getLogger("lightning_fabric")
        level = logger.level
        logger.setLevel(logging.ERROR)
        try:
            yield
        finally:
            logger.setLevel(level)
