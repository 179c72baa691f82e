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
        maps: (*S) of each channel as it is written: the foreground alone where there is one class,
            else all classes with the background, or all regions. Each has its own memory, so that
            one can be let go when it is written.
        raw: (*S), the uncorrected ones of the foreground classes or regions. The same memory as
            in ``maps`` where nothing was corrected; empty where the mask is decided.
        mask: class numbers (*S), uint8; None where it is to be decided on another grid.
    """

    maps: list[NDArray[np.float32]]
    raw: list[NDArray[np.float32]]
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
    maps = [torch.empty(shape) for _ in map_names(task)]
    mask = np.zeros(shape, np.uint8)
    for rows, logits in _slabs(predictor, image, settings, device):
        raw = task.probabilities(logits)
        found = (
            raw if predictor.correction is None else corrected(task, predictor.correction, logits)
        )
        for channel, p in zip(maps, found[-len(maps) :], strict=True):
            channel[rows] = p
        piece = rule.new_mask(raw.shape[1:])
        for index, foreground in enumerate(task.foreground_of(raw).numpy()):
            piece.add(index, foreground)
        mask[rows] = piece.finished()
        on_share(logits.shape[1] / shape[0])
    return CaseProbabilities([channel.numpy() for channel in maps], [], mask)


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
    maps = [torch.zeros(shape) for _ in map_names(task)]
    told_apart = any(p.correction is not None for p in predictors)
    raw = [torch.zeros(shape) for _ in task.names] if told_apart else maps[-len(task.names) :]
    share = 1.0 / len(predictors)
    for predictor in predictors:
        for rows, logits in _slabs(predictor, image, settings, device):
            _add(corrected(task, predictor.correction, logits)[-len(maps) :], share, maps, rows)
            if told_apart:
                _add(task.foreground_of(task.probabilities(logits)), share, raw, rows)
            on_share(share * logits.shape[1] / shape[0])
    return CaseProbabilities([m.numpy() for m in maps], [r.numpy() for r in raw], None)


def _add(probabilities: Tensor, share: float, totals: Sequence[Tensor], rows: slice) -> None:
    for total, p in zip(totals, probabilities, strict=True):
        total[rows] += share * p


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
