"""Where and when a benchmark ran: printed beside its numbers and written with them."""

import platform
import subprocess
from datetime import date

import torch


def provenance() -> dict[str, str]:
    """Return commit, date and machine."""
    commit = subprocess.run(
        ["git", "describe", "--always", "--dirty"], capture_output=True, text=True, check=False
    ).stdout.strip()
    machine = f"{platform.machine()}, {torch.get_num_threads()} threads, torch {torch.__version__}"
    return {"commit": commit, "date": str(date.today()), "machine": machine}


def provenance_line() -> str:
    """Return the same in one line."""
    found = provenance()
    return f"commit {found['commit']}, {found['date']}, {found['machine']}"
