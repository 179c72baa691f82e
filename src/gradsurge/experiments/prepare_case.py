"""One case from its raw files to the store: the task of a worker."""

import errno
from dataclasses import dataclass, replace
from pathlib import Path

from gradsurge.data.case_error import shown
from gradsurge.data.datasets import Dataset, RawCase
from gradsurge.data.store import stamp_case, write_case

DISK_FULL = (errno.ENOSPC, errno.EDQUOT)


@dataclass(frozen=True)
class Outcome:
    """Of one case: what went wrong, if anything, and whether it was the disk."""

    case: str
    problem: str | None = None
    disk_full: bool = False


def prepare_case(case: RawCase, dataset: Dataset, raw: Path, out: Path, settings: str) -> Outcome:
    """Prepare and store one case; the task of a worker."""
    try:
        stamp = stamp_case(case, raw, settings)  # before reading: a change meanwhile is seen later
        prepared = replace(dataset.load(case), name=case.name)
        write_case(out, prepared, dataset, stamp)
    except MemoryError:
        return Outcome(case.name, "needs more memory than there is; try fewer processes with -j")
    except OSError as error:
        file = "" if error.filename is None else f"{shown(Path(error.filename))}: "
        return Outcome(case.name, f"{file}{error.strerror or error}", error.errno in DISK_FULL)
    except ValueError as error:  # CaseError among them
        return Outcome(case.name, " ".join(str(error).split()))
    return Outcome(case.name)
