"""Optuna without its remarks about every study it makes."""

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quiet_optuna() -> Iterator[None]:
    """Let Optuna's log tell errors only while inside; a user's own setting comes back."""
    from optuna import logging

    before = logging.get_verbosity()
    logging.set_verbosity(logging.ERROR)
    try:
        yield
    finally:
        logging.set_verbosity(before)
