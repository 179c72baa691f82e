"""A trained run, opened: its model, its corrections, its thresholds."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path

from torch import nn

from gradsurge.calibration import CalibrationSketch, Recalibration, load_recalibration
from gradsurge.data.case_error import shown
from gradsurge.experiments.runs.config import RunConfig
from gradsurge.experiments.runs.corrections import NONE
from gradsurge.experiments.runs.outcome import Outcome, read_outcome
from gradsurge.experiments.runs.run_folder import OUTCOME, RECALIBRATION, SKETCH
from gradsurge.experiments.runs.task import Task
from gradsurge.models import make_model
from gradsurge.training import Checkpoint, read_checkpoint


@dataclass(frozen=True)
class TrainedRun:
    """A run that has ended. Nothing but its folder is needed, the store is not.

    Attributes:
        folder: of the run.
        checkpoint: the best one; the configuration is inside.
        outcome: scores, correction and thresholds.
    """

    folder: Path
    checkpoint: Checkpoint
    outcome: Outcome

    @cached_property
    def config(self) -> RunConfig:
        """What the run was trained with."""
        return RunConfig.from_json(self.checkpoint.config)

    @property
    def task(self) -> Task:
        """What the model tells."""
        return self.config.task

    def model(self) -> nn.Module:
        """Return the model in eval mode, with the best weights."""
        return model_of(self.checkpoint)

    @cached_property
    def corrections(self) -> dict[str, Recalibration]:
        """The corrections by name, without "none"."""
        folder = self.folder / RECALIBRATION
        names = [name for name in self.outcome.scores if name != NONE]
        return {name: load_recalibration(folder / f"{name}.json") for name in names}

    @property
    def default_correction(self) -> str:
        """The correction to use: "equilibrium" where it lowered the validation NLL, or "none"."""
        return self.outcome.correction

    @property
    def threshold(self) -> tuple[float, ...] | None:
        """Thresholds of the raw probabilities for masks, one a foreground class or region.

        None: the likeliest class. See `Outcome.mask_thresholds`.
        """
        return self.outcome.mask_thresholds

    @property
    def thresholds(self) -> Mapping[str, tuple[float, ...]]:
        """Dice-optimal thresholds of the probabilities after each correction, "none" among them."""
        return {name: row.thresholds for name, row in self.outcome.scores.items()}

    def sketch(self) -> CalibrationSketch:
        """Return the sketch of the raw validation logits."""
        return CalibrationSketch.load(self.folder / SKETCH)


def open_run(path: str | PathLike[str]) -> TrainedRun:
    """Open a finished run.

    Raises:
        ValueError: it is none, damaged, or not finished.
    """
    folder = Path(path)
    try:
        checkpoint = read_checkpoint(folder / "best.pt")
        run = TrainedRun(folder, checkpoint, read_outcome(folder / OUTCOME))
    except FileNotFoundError as error:
        raise ValueError(f"{shown(folder)}: {_why_no_run(folder)}") from error
    try:
        run.config  # noqa: B018  # read now, so that a damaged one is refused here
    except ValueError as error:
        raise ValueError(f"{shown(folder / 'best.pt')}: {error}") from error
    return run


def _why_no_run(folder: Path) -> str:
    if not folder.is_dir():
        return "not a run: there is no such folder"
    if (folder / "config.json").is_file():
        return "its training did not finish; go on with the same gradsurge train and --resume"
    return "not a run of gradsurge train"


def model_of(checkpoint: Checkpoint) -> nn.Module:
    """Return the model of a checkpoint, in eval mode, with its averaged weights where it has any.

    Nothing else is needed: a best.pt or last.pt, copied anywhere, knows its network::

        model = model_of(gradsurge.training.read_checkpoint("best.pt"))

    Raises:
        ValueError: the checkpoint is not of a run, or its weights are of another model.
    """
    model = make_model(RunConfig.from_json(checkpoint.config).model)
    try:
        model.load_state_dict(checkpoint.weights)
    except RuntimeError as error:
        raise ValueError(f"weights do not fit the model: {' '.join(str(error).split())}") from error
    return model.eval()
