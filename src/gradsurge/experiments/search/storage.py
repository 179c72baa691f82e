"""Opening the storage of a study."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from gradsurge.experiments.search.address import (
    database_url,
    is_database,
    shown_storage,
    without_secrets,
)
from gradsurge.experiments.search.journal_file import open_journal
from gradsurge.experiments.search.quiet_optuna import quiet_optuna

if TYPE_CHECKING:
    from optuna.storages import BaseStorage

T = TypeVar("T")


class StorageError(ValueError):
    """A storage is none, or cannot be reached: nothing can be done for any study in it."""


_TRIES = 5  # of making the tables, which workers that start together do at the same moment
# A dead line is noticed within a minute, not after hours. Drivers hand these on to libpq.
_CONNECTION = {
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 40_000,
}


def open_storage(storage: str) -> "BaseStorage":
    """Open a storage; a journal or the tables of a database are made if there are none.

    Args:
        storage: path of a journal file, or postgresql://user@host/database.

    Raises:
        StorageError: it is no storage, or does not answer; one line, without the password.
    """
    try:
        if not is_database(storage):
            # Whole, because its lock is a file beside it and processes may change their folder.
            return open_journal(Path(storage).absolute())
        return _open_database(storage, database_url(storage))
    except ValueError as error:
        raise StorageError(str(error)) from error
    except OSError as error:
        reason = error.strerror or error
        raise StorageError(f"storage: {shown_storage(storage)}: {reason}") from error
    except ImportError as error:
        raise StorageError(
            f"storage: {shown_storage(storage)} needs a driver that is not installed "
            f"({error.name or error}); pip install 'gradsurge[postgres]'"
        ) from error


def _open_database(storage: str, url: str) -> "BaseStorage":
    from optuna.storages import RDBStorage
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError, SQLAlchemyError
    from sqlalchemy.pool import NullPool

    try:
        make_url(url)
    except (ArgumentError, ValueError):  # its text may hold a part of the password
        raise ValueError(
            f"storage: {shown_storage(storage)} is no URL; expected "
            f"postgresql://user@host/database, with the password's /, : and @ as %2F, %3A and %40"
        ) from None
    # No pool: a worker speaks for milliseconds every few seconds, and a server has few places. So
    # there is no line to be found dead, and none that a fork of the process could share.
    options = {"poolclass": NullPool, "connect_args": dict(_CONNECTION)}
    for attempt in range(1, _TRIES + 1):
        try:
            with quiet_optuna():
                return RDBStorage(url, engine_kwargs=options)
        except SQLAlchemyError as error:
            problem = error
            if attempt < _TRIES and not _is_out_of_reach(error):
                time.sleep(0.2 * attempt)
                continue
            break
        except RuntimeError as error:  # tables of another Optuna
            raise ValueError(_line(storage, error)) from None
    raise ValueError(_line(storage, problem)) from None


def storage_errors() -> tuple[type[Exception], ...]:
    """Return what a storage raises while it cannot be reached or written."""
    from optuna.exceptions import StorageInternalError
    from sqlalchemy.exc import SQLAlchemyError

    return (StorageInternalError, SQLAlchemyError, OSError)


def insist(act: Callable[[], T], seconds: float = 300.0) -> T:
    """Do something with a storage, again and again while it cannot be reached.

    What is done must do no harm if done twice: an answer may be lost on the way.

    Args:
        act: what to do.
        seconds: when to give up.

    Raises:
        StorageError: it could not be reached for that long.
    """
    errors, pause, waited = storage_errors(), 0.5, 0.0
    while True:
        try:
            return act()
        except errors as error:
            if waited >= seconds:
                raise StorageError(
                    f"storage: out of reach for {seconds:g} seconds ({type(error).__name__}); "
                    f"runs are saved: start the same command once it answers again"
                ) from error
        time.sleep(pause)
        waited += pause  # not by the clock: a process that was frozen meanwhile has not tried
        pause = min(2 * pause, 10.0)


def _is_out_of_reach(error: Exception) -> bool:
    """Tell a server that does not answer, which is told at once, from tables in the making."""
    from sqlalchemy.exc import OperationalError

    return isinstance(error, OperationalError)


def _line(storage: str, error: Exception) -> str:
    reason = " ".join(str(getattr(error, "orig", None) or error).split())
    return f"storage: {shown_storage(storage)}: {without_secrets(reason, storage)}"
