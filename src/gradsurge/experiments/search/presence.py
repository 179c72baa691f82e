"""Who is at work in a folder: a locked file a worker, which the system unlocks when it dies."""

import fcntl
import os
import platform
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

WORKERS = "workers"
Whereabouts = Literal["here", "gone", "unknown"]
_BOOT = Path("/proc/sys/kernel/random/boot_id")


def this_machine() -> str | None:
    """Return what tells this running system from all others; None where there is no such thing.

    Names of hosts do not: cloud machines share them, and containers of one machine differ.
    """
    try:
        return _BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return None


@dataclass(frozen=True)
class Worker:
    """One process that works on a study.

    Attributes:
        name: unique, and tells where it is.
        machine: see `this_machine`.
    """

    name: str = field(
        default_factory=lambda: f"{platform.node()}-{os.getpid()}-{uuid.uuid4().hex[:6]}"
    )
    machine: str | None = field(default_factory=this_machine)

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


@contextmanager
def present(folder: Path | None, worker: Worker) -> Iterator[None]:
    """Hold the worker's file locked while inside.

    Args:
        folder: of the search; None for no file.
        worker: this one.
    """
    if folder is None:
        yield
        return
    file = _file(folder, worker.name)
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        try:
            yield
        finally:
            file.unlink(missing_ok=True)


def whereabouts(folder: Path | None, worker: Mapping[str, Any]) -> Whereabouts:
    """Tell whether a worker of this machine is still there; many may look at the same time.

    Other machines may not see its lock, so of their workers nothing is said.

    Args:
        folder: of the search.
        worker: as `Worker.to_json` gave it.
    """
    machine = worker.get("machine")
    if folder is None or machine is None or machine != this_machine():
        return "unknown"
    file = _file(folder, str(worker.get("name")))
    try:
        with file.open("r+") as stream:
            fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return "gone"
    except BlockingIOError:
        return "here"
    except OSError:
        return "unknown"
    return "gone"


def forget(folder: Path | None, worker: Mapping[str, Any]) -> None:
    """Remove the file of a worker that is gone."""
    if folder is not None:
        _file(folder, str(worker.get("name"))).unlink(missing_ok=True)


def is_held(folder: Path) -> bool:
    """Tell whether a training is at work in a run's folder, as far as this machine can see."""
    try:
        with (folder / ".lock").open("r+") as stream:
            fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # no such run yet, or no such locks on this disk
        return False
    return False


def _file(folder: Path, name: str) -> Path:
    return folder / WORKERS / f"{name}.lock"
