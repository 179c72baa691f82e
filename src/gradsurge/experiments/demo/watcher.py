"""Who is told how far a demo has come, and how it stops."""

from typing import Protocol


class DemoStopped(Exception):
    """Somebody stopped it; what was done is kept, and the same demo goes on from there."""


class Watcher(Protocol):
    """Is told of stages and of what is done of them."""

    def stage(self, title: str, total: int) -> None:
        """A stage begins, or the one that has begun is of so many parts."""

    def done(self, parts: int, facts: str = "") -> None:
        """So many parts of the stage are done; ``facts`` tells of the last one."""


class Unwatched:
    """A watcher that keeps it to itself."""

    def stage(self, title: str, total: int) -> None:
        """Say nothing."""

    def done(self, parts: int, facts: str = "") -> None:
        """Say nothing."""
