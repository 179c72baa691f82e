"""Why a training cannot go on, in one line."""

from pathlib import Path


class TrainingError(RuntimeError):
    """The training had to stop: one clear line that says what is kept and what to do."""


class NonFiniteError(TrainingError):
    """The loss or the gradient is not a finite number.

    Attributes:
        step: number of steps that were fine.
        cases: of the batch, on all ranks.
        file: the state before the step.
        problem: why that could not be written; None if it was.
    """

    def __init__(
        self, what: str, step: int, cases: list[str], file: Path, problem: str | None
    ) -> None:
        self.step, self.cases, self.file, self.problem = step, cases, file, problem
        listed = ", ".join(dict.fromkeys(cases))
        kept = f"kept in {file}" if problem is None else f"not kept ({problem})"
        super().__init__(
            f"{what} is not finite in step {step + 1}, cases {listed}; the state before it is "
            f"{kept}; look at these cases, lower the learning rate or clip gradients"
        )
