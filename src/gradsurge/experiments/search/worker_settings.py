"""How a worker behaves."""

from dataclasses import dataclass


@dataclass(frozen=True)
class WorkerSettings:
    """How a worker behaves.

    Attributes:
        beat: seconds between signs of life.
        grace: seconds without one after which a worker on another machine is thought dead.
        tries: attempts that fail or die, without bringing the run further, until a trial failed.
        stay: wait for trials of others, to take them up should their worker die; else leave when
            nothing waits and all others were seen to be alive.
        poll: seconds between looks at the study while waiting.
    """

    beat: float = 15.0
    grace: float = 120.0
    tries: int = 3
    stay: bool = True
    poll: float = 1.0

    def __post_init__(self) -> None:
        if not (self.beat > 0 and self.poll > 0 and self.tries >= 1):
            raise ValueError(
                f"worker: expected beat and poll above 0, and tries of 1 or more, got {self}"
            )
        if self.grace < 3 * self.beat:
            raise ValueError(
                f"grace: expected at least three beats of {self.beat:g} seconds, got "
                f"{self.grace:g}; else a slow answer is taken for a death"
            )
