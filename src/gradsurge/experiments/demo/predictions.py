"""The predictions of a demo: held-out cases, a folder for each line of the table."""

from pathlib import Path

from gradsurge.experiments.demo.cases import HeldOut
from gradsurge.experiments.demo.compared import COMPARED, Compared
from gradsurge.experiments.demo.folder import PREDICTIONS, RUNS, STORE
from gradsurge.experiments.demo.watcher import Watcher
from gradsurge.experiments.prediction.predicting import PredictCalls, predict
from gradsurge.experiments.prediction.settings import PredictSettings
from gradsurge.experiments.runs import open_run


def predict_all(
    held_out: HeldOut, out: Path, watcher: Watcher, device: str = "auto"
) -> tuple[list[Compared], list[str]]:
    """Predict the held-out cases with every model, as ``gradsurge predict`` does.

    Returns:
        What was predicted, and a line for each case that could not be.
    """
    rows = [row for row in COMPARED if _has_correction(out / RUNS / row.loss, row.correction)]
    watcher.stage("predicting held-out cases", len(rows) * len(held_out.names))
    problems, done = [], 0

    def on_case(_: str) -> None:
        nonlocal done
        watcher.done(done)  # it begins
        done += 1

    for row in rows:
        record = predict(
            [out / RUNS / row.loss],
            out / STORE,
            out / PREDICTIONS / row.folder,
            PredictSettings(correction=row.correction, device=device),
            split=held_out.split,
            overwrite=True,
            calls=PredictCalls(on_case=on_case),
        )
        problems += [f"{row.name}: {case}: {problem}" for case, problem in record.failures]
    watcher.done(len(rows) * len(held_out.names))
    return rows, problems


def _has_correction(run: Path, correction: str) -> bool:
    """Tell whether a run has it: rates that cannot be inverted give no equilibrium."""
    return correction == "none" or correction in open_run(run).corrections
