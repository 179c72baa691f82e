"""What should not pass in silence, though every case was scored."""

from collections.abc import Sequence
from pathlib import Path

from gradsurge.data import CaseError, find_image, read_label, read_prediction
from gradsurge.data.case_error import printable
from gradsurge.experiments.evaluation.case import CaseTask
from gradsurge.experiments.evaluation.result import Evaluation


def notes_of(evaluation: Evaluation, tasks: Sequence[CaseTask], images: Path | None) -> list[str]:
    """Return a line for each thing that looks like a mistake of the caller's."""
    scored = {(m.name, case) for m in evaluation.models.values() for case in m.cases}
    of_scores = [task for task in tasks if (task.model, task.case) in scored]
    notes = [
        f"{m.name}: Dice and lesions are of the masks that gradsurge predict wrote, not of p > 0.5"
        for m in evaluation.models.values()
        if m.own_masks and m.cases
    ]
    if evaluation.settings.logits:
        notes += _doubtful_logits(of_scores)
    if images is not None:
        notes += _missing_scans(evaluation, images)
    return notes


def _doubtful_logits(tasks: Sequence[CaseTask]) -> list[str]:
    """Look at files until one holds what no probability is: of real logits the first does."""
    models = dict.fromkeys(task.model for task in tasks)
    doubtful = [
        name
        for name in models
        if all(_looks_like_probabilities(t) for t in tasks if t.model == name)
    ]
    return [
        f"{name}: --logits was given, but every value of every case lies in [0, 1], as "
        f"probabilities do; without --logits they are taken as such"
        for name in doubtful
    ]


def _looks_like_probabilities(task: CaseTask) -> bool:
    try:
        values = read_prediction(task.prediction, read_label(task.label)).array
    except CaseError:  # it changed since it was scored
        return False
    return bool(values.min() >= 0 and values.max() <= 1)


def _missing_scans(evaluation: Evaluation, images: Path) -> list[str]:
    looks = evaluation.looks
    if not looks or any(look.image is not None for look in looks):
        return []
    named = any(find_image(images, look.case) for look in looks)
    why = (
        "those of the worst cases cannot be read, or lie on another grid than the labels"
        if named
        else f"none is named like a worst case, such as {looks[0].case} or {looks[0].case}_0000"
    )
    return [f"--images: no scan of {printable(str(images))} is shown: {why}"]
