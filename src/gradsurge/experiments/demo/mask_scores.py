"""Dice of the masks that predictions come with, which are made of uncorrected probabilities."""

from collections.abc import Sequence
from pathlib import Path

import torch

from gradsurge.calibration import dice
from gradsurge.data import find_files, read_label
from gradsurge.experiments.prediction.one_case import MASKS
from gradsurge.experiments.runs import Task
from gradsurge.experiments.runs.case_scores import mean_dice


def mask_dice(folder: Path, labels: Path, cases: Sequence[str], task: Task) -> float:
    """Return the Dice of written masks: mean over cases, then over classes; NaN for no case.

    Args:
        folder: of a prediction.
        labels: folder of the labels.
        cases: names of those that count.
        task: what the classes or regions are.
    """
    masks, truth = find_files(folder / MASKS), find_files(labels)
    rows = torch.full((len(cases), len(task.names)), torch.nan, dtype=torch.float64)
    for place, case in enumerate(cases):
        mask, label = (
            task.foreground(torch.from_numpy(read_label(files[case][0]).array.astype("uint8")))
            for files in (masks, truth)
        )
        scores = [dice(m.numpy(), y.numpy()) for m, y in zip(mask, label, strict=True)]
        rows[place] = torch.tensor(scores, dtype=torch.float64)
    return mean_dice(task.names, rows)[0]
