"""Mean probabilities of one or several networks on a prepared image."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gradsurge.data.case_error import CaseError
from gradsurge.experiments.prediction.mask_rule import MaskRule
from gradsurge.experiments.prediction.predictor import Predictor
from gradsurge.experiments.prediction.settings import PredictSettings
from gradsurge.experiments.runs.recalibrated_counts import corrected
from gradsurge.experiments.runs.task import Task
from gradsurge.training.inference import iterate_slabs

OnShare = Callable[[float], object]
_VOXELS = 1 << 22  # at a time between logits and probabilities


@dataclass(frozen=True)
class CaseProbabilities:
    """Probabilities on the grid of the prepared image, float32.

    Attributes:
        maps: (K, *S) as they are written: the foreground alone where there is one class, else all
            classes with the background, or all regions.
        raw: (F, *S), the uncorrected ones of the foreground classes or regions. The same memory as
            in ``maps`` where nothing was corrected; None where the mask is decided.
        mask: class numbers (*S), uint8; None where it is to be decided on another grid.
    """

    maps: NDArray[np.float32]
    raw: NDArray[np.float32] | None
    mask: NDArray[np.uint8] | None


def map_names(task: Task) -> list[str]:
    """Return the names of the channels of a map."""
    return ["background", *task.names] if task.kind == "multiclass" else list(task.names)


def one_network(
    predictor: Predictor,
    image: NDArray[np.float32],
    rule: MaskRule,
    settings: PredictSettings,
    device: torch.device,
    on_share: OnShare = lambda _: None,
) -> CaseProbabilities:
    """Return the probabilities of one network, with the mask on the image's own grid.

    Raw probabilities need not be kept for it, which is a large part of the memory. The arguments
    are those of `mean_probabilities`, and how the mask is decided.
    """
    task, shape = predictor.task, image.shape[1:]
    maps = torch.empty((len(map_names(task)), *shape))
    mask = np.zeros(shape, np.uint8)
    for rows, logits in _slabs(predictor, image, settings, device):
        raw = task.probabilities(logits)
        found = (
            raw if predictor.correction is None else corrected(task, predictor.correction, logits)
        )
        maps[:, rows] = found[-len(maps) :]
        piece = rule.new_mask(raw.shape[1:])
        for index, p in enumerate(task.foreground_of(raw).numpy()):
            piece.add(index, p)
        mask[rows] = piece.finished()
        on_share(logits.shape[1] / shape[0])
    return CaseProbabilities(maps.numpy(), None, mask)


def mean_probabilities(
    predictors: Sequence[Predictor],
    image: NDArray[np.float32],
    settings: PredictSettings,
    device: torch.device,
    on_share: OnShare = lambda _: None,
) -> CaseProbabilities:
    """Return the mean over the networks of their corrected and of their raw probabilities.

    Logits become probabilities on the image's own grid, before anything is resampled.

    Args:
        predictors: networks on ``device``.
        image: (C, *S).
        settings: overlap, mirroring, batch.
        device: where the networks are.
        on_share: called with the share of the work done since the last call.

    Raises:
        CaseError: a network returns NaN or infinite values.
    """
    task, shape = predictors[0].task, image.shape[1:]
    foreground = len(task.names)
    maps = torch.zeros((len(map_names(task)), *shape))
    told_apart = any(p.correction is not None for p in predictors)
    raw = torch.zeros((foreground, *shape)) if told_apart else maps[-foreground:]
    share = 1.0 / len(predictors)
    for predictor in predictors:
        for rows, logits in _slabs(predictor, image, settings, device):
            maps[:, rows] += share * corrected(task, predictor.correction, logits)[-len(maps) :]
            if told_apart:
                raw[:, rows] += share * task.foreground_of(task.probabilities(logits))
            on_share(share * logits.shape[1] / shape[0])
    return CaseProbabilities(maps.numpy(), raw.numpy(), None)


def _slabs(
    predictor: Predictor,
    image: NDArray[np.float32],
    settings: PredictSettings,
    device: torch.device,
) -> Iterator[tuple[slice, Tensor]]:
    """Yield rows and their logits, few enough that what is computed of them takes little room."""
    axes = tuple(range(image.ndim - 1)) if settings.mirror else ()
    slabs = iterate_slabs(
        predictor.model,
        torch.from_numpy(image),
        predictor.window,
        overlap=settings.overlap,
        batch=settings.batch,
        mirror_axes=axes,
        device=device,
        divisor=getattr(predictor.model, "divisor", 1),
    )
    for rows, logits in slabs:
        if not torch.isfinite(logits.sum()) and not torch.isfinite(logits).all():
            raise CaseError(
                f"the network of {predictor.run} returns NaN or infinite values for it; look at "
                f"the image's intensities, or train anew"
            )
        step = max(1, _VOXELS // max(logits[0, 0].numel(), 1))
        for first in range(0, logits.shape[1], step):
            piece = logits[:, first : first + step]
            yield slice(rows.start + first, rows.start + first + piece.shape[1]), piece
