"""What a preparation comes to, and why it may stop."""

from dataclasses import dataclass, field
from pathlib import Path

from gradsurge.data.case_error import shown


class DiskFull(RuntimeError):
    """There is no room for the next case; those before it are stored."""


class NothingToPrepare(ValueError):
    """The raw folder has no case; ``failures`` says why."""

    def __init__(self, raw: Path, failures: list[tuple[str, str]]) -> None:
        super().__init__(f"{shown(raw)}: no case found")
        self.failures = failures


@dataclass
class Preparation:
    """What became of the cases; of failures (case, message)."""

    prepared: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    failures: list[tuple[str, str]] = field(default_factory=list)
