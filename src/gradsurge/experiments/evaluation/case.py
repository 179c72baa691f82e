"""One case of one model: read, check, count. What a worker does, here or on another machine."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradsurge.calibration.lesions import CaseLesions, find_lesions
from gradsurge.calibration.logit_table import LogitSums
from gradsurge.calibration.overlap import dice, surface_scores
from gradsurge.calibration.sketch import CalibrationSketch
from gradsurge.data import CaseError, Volume, check_geometry, read_label, read_prediction
from gradsurge.experiments.evaluation.counting import count_regions, logit_sums
from gradsurge.experiments.evaluation.own_masks import read_own_mask
from gradsurge.experiments.evaluation.settings import Region, Settings
from gradsurge.experiments.evaluation.structures import Structures, structures_of


@dataclass(frozen=True)
class CaseTask:
    """Files of a case; ``masks`` should be one where the region "mask" is asked for.

    ``own_mask`` is the hard mask that the model brings; its map is cut at 0.5 if there is none.
    """

    model: str
    case: str
    prediction: tuple[Path, ...]
    label: Path
    masks: tuple[Path, ...] = ()
    own_mask: Path | None = None

    def absolute(self) -> "CaseTask":
        """Return the task with paths that hold in any working directory."""
        return replace(
            self,
            prediction=tuple(file.absolute() for file in self.prediction),
            label=self.label.absolute(),
            masks=tuple(file.absolute() for file in self.masks),
            own_mask=None if self.own_mask is None else self.own_mask.absolute(),
        )


@dataclass
class CaseResult:
    """What a worker sends back: small, whatever the size of the case; or the reason why not.

    ``own_counts`` has, of the model's own mask, 2 |A and B| and |A| + |B| of each structure.
    """

    task: CaseTask
    problem: str | None = None
    names: list[str] = field(default_factory=list)
    channels: int = 0
    dimensions: int = 0
    sketches: dict[Region, CalibrationSketch] = field(default_factory=dict)
    overlap: dict[str, dict[str, float]] = field(default_factory=dict)
    own_counts: dict[str, tuple[int, int]] = field(default_factory=dict)
    lesions: dict[str, CaseLesions] = field(default_factory=dict)
    logits: dict[str, LogitSums] = field(default_factory=dict)


class ReadCase(NamedTuple):
    """What was read of a case; ``channels`` are those of the prediction's files."""

    structures: Structures
    label: Volume
    channels: int


def read_case(task: CaseTask, settings: Settings) -> ReadCase:
    """Read and check the files of a case.

    Raises:
        CaseError: whatever is wrong with them.
    """
    label = read_label(task.label)
    prediction = read_prediction(task.prediction, label)
    check_geometry(prediction, label)
    found = structures_of(prediction, label, settings)
    if not settings.allow_empty and not found.labels.any():
        raise CaseError("the label is empty: left out (--allow-empty scores it)")
    return ReadCase(found, label, len(prediction.array))


def evaluate_case(task: CaseTask, settings: Settings) -> CaseResult:
    """Measure one case; a fault of its files becomes the result's ``problem``."""
    try:
        return _measure(task, read_case(task, settings), settings)
    except CaseError as error:
        return CaseResult(task, problem=str(error))
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "allocate memory" not in str(error):  # torch's own
            raise
        return CaseResult(task, problem="out of memory; try fewer workers, or crop the case")


def _measure(task: CaseTask, read: ReadCase, settings: Settings) -> CaseResult:
    found, label, channels = read
    result = CaseResult(task, names=found.names, channels=channels, dimensions=label.array.ndim)
    result.sketches = count_regions(found, label, settings, task.masks)
    masks = found.masks
    if task.own_mask is not None:
        masks = read_own_mask(task.own_mask, label, channels, settings)
        result.own_counts = _counts(masks, found)
    for k, name in enumerate(found.names):
        p, truth, mask = found.probabilities[k], found.labels[k], masks[k]
        result.overlap[name] = _overlap(mask, truth, found.spacing, settings)
        if settings.lesions:
            result.lesions[name] = find_lesions(
                p, truth, mask, found.spacing, case=task.case, bins=settings.bins
            )
    result.logits = logit_sums(found)
    return result


def _overlap(
    mask: NDArray[np.bool_],
    truth: NDArray[np.bool_],
    spacing: tuple[float, ...],
    settings: Settings,
) -> dict[str, float]:
    scores = {"dice": dice(mask, truth)}
    if settings.surface_mm is not None:
        scores["nsd"], scores["hd95"] = surface_scores(mask, truth, spacing, settings.surface_mm)
    return scores


def _counts(masks: NDArray[np.bool_], found: Structures) -> dict[str, tuple[int, int]]:
    pairs = zip(found.names, masks, found.labels, strict=True)
    return {
        name: (2 * int((mask & truth).sum()), int(mask.sum()) + int(truth.sum()))
        for name, mask, truth in pairs
    }
