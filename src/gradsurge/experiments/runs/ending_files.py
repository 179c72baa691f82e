"""What a run leaves behind at its end; the outcome last, so that it tells that all is there."""

from pathlib import Path

from gradsurge.experiments.runs.ending import Ending
from gradsurge.experiments.runs.outcome import write_outcome
from gradsurge.experiments.runs.run_folder import OUTCOME, RECALIBRATION, SKETCH


def write_ending(folder: Path, ending: Ending) -> None:
    """Write validation.npz, recalibration/*.json and outcome.json."""
    ending.sketch.save(folder / SKETCH)
    for name, correction in ending.corrections.items():
        correction.save(folder / RECALIBRATION / f"{name}.json")
    write_outcome(folder / OUTCOME, ending.outcome)
