"""The table of a demo: scores of the evaluation, Dice of the masks, distance from the truth."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from gradsurge.calibration import dice
from gradsurge.data import find_files, read_label, read_prediction
from gradsurge.experiments.demo.cases import HeldOut
from gradsurge.experiments.demo.compared import POSTERIOR, Compared
from gradsurge.experiments.demo.folder import PREDICTIONS
from gradsurge.experiments.demo.mask_scores import mask_dice
from gradsurge.experiments.demo.posterior_distance import posterior_distance
from gradsurge.experiments.demo.result import ScoreRow
from gradsurge.experiments.evaluation.result import Evaluation, ModelResult
from gradsurge.experiments.prediction.record import NAME as RECORD
from gradsurge.experiments.runs import Task
from gradsurge.experiments.runs.case_scores import mean_dice


def score_rows(
    rows: Sequence[Compared], evaluation: Evaluation, held_out: HeldOut, task: Task, out: Path
) -> dict[str, ScoreRow]:
    """Return the lines of the table by name.

    Args:
        rows: what was predicted.
        evaluation: of these, and of the true posterior.
        held_out: the cases.
        task: what the models tell.
        out: folder of the demo.
    """
    found = {}
    for row in rows:
        model, folder = evaluation.models[row.name], out / PREDICTIONS / row.folder
        posterior = held_out.posterior
        distance = (
            (None, None)
            if posterior is None
            else posterior_distance(folder, posterior, held_out.labels, model.cases)
        )
        found[row.name] = ScoreRow(
            row.name,
            **_pooled(model, evaluation),
            dsc=100 * mask_dice(folder, held_out.labels, model.cases, task),
            mask=_mask_words(folder),
            distance=distance[0],
            rms=distance[1],
        )
    if held_out.posterior is not None and held_out.threshold is not None:
        found[POSTERIOR] = _of_truth(evaluation, held_out, held_out.posterior, held_out.threshold)
    return found


def _pooled(model: ModelResult, evaluation: Evaluation) -> dict[str, float]:
    where = evaluation.settings.regions[0], evaluation.headline
    (scores,) = (row.scores for row in model.pooled if (row.region, row.label) == where)
    return {name: float(scores[name]) for name in ("nll", "ece", "mce", "brier")}


def _mask_words(folder: Path) -> str:
    """Return how a prediction's masks were made: its record knows."""
    mask: Mapping[str, Any] = json.loads((folder / RECORD).read_text(encoding="utf-8"))["mask"]
    limits = mask["thresholds"]
    if limits is None:
        return str(mask["rule"])
    if len(limits) == 1:
        return f"p > {next(iter(limits.values())):.2f}"
    return ", ".join(f"{name}: p > {value:.2f}" for name, value in limits.items())


def _of_truth(
    evaluation: Evaluation, held_out: HeldOut, posterior: Path, threshold: float
) -> ScoreRow:
    """Return the scores of the posterior itself: nobody can expect a lower NLL."""
    model = evaluation.models[POSTERIOR]
    maps, labels = find_files(posterior), find_files(held_out.labels)
    scores = []
    for case in model.cases:
        label = read_label(labels[case][0])
        q = read_prediction(maps[case], label).array[-1]
        scores.append([dice(q > threshold, label.array == 1)])
    rows = torch.tensor(scores, dtype=torch.float64).reshape(-1, 1)
    return ScoreRow(
        POSTERIOR,
        **_pooled(model, evaluation),
        dsc=100 * mean_dice([POSTERIOR], rows)[0],
        mask=f"q > {threshold:.2f}",
        distance=0.0,
        rms=0.0,
    )
