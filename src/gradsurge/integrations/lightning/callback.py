"""A callback that measures calibration in validation and test, and draws reliability diagrams."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from gradsurge.calibration import CalibrationSketch
from gradsurge.calibration.scores import BINS
from gradsurge.calibration.sketch import Kind
from gradsurge.integrations.labels import class_labels
from gradsurge.integrations.lightning.diagrams import Diagrams
from gradsurge.integrations.lightning.package import Callback, LightningModule, Trainer
from gradsurge.integrations.lightning.ranks import summed_over_ranks
from gradsurge.integrations.update import (
    USUAL_SCORES,
    Input,
    check_input,
    check_scores,
    score_tensors,
    updated,
)


class CalibrationCallback(Callback):  # type: ignore[misc]  # Lightning is not followed by mypy
    """Reports calibration of each validation and test, and draws reliability diagrams.

    The contract: ``validation_step`` (and ``test_step``) return a dictionary with the batch's
    logits or probabilities, and its labels::

        return {"logits": logits, "target": target}

    After an epoch val_nll, val_ece, val_brier and val_dice are logged, so that
    ``ModelCheckpoint(monitor="val_nll")`` works. All voxels of all ranks are counted together, in
    a sketch of fixed size; sanity checking is left out. Several data loaders are reported one by
    one, with Lightning's suffix /dataloader_idx_1. A `DistributedSampler` repeats samples where
    ranks do not divide their number, and these count twice.

    Diagrams, one a foreground class, go to loggers that take pictures: TensorBoard, and those with
    ``log_image`` such as W&B. A logger with a folder, as that of CSV, gets PNG files there.

    Args:
        input: "logits" or "probabilities"; it is not guessed from the values.
        kind: "binary", "multiclass" or "multilabel", as in `CalibrationSketch`.
        classes: number of classes or channels; binary needs none.
        scores: names of what to report, see `CalibrationMetric`.
        bins: of the calibration errors and diagrams; a divisor of 25200.
        prediction: key of the logits or probabilities; the word of ``input`` if left out.
        target: key of the labels: class indices or one-hot, as in `CalibrationSketchMetric`.
        mask: key of a mask of voxels that count, (N, *S); all count if left out.
        names: how scores are called; {stage} is val or test.
        diagram_every: draw at every so many validations; 0 for never.
        folder: for PNG files of all diagrams, whatever the loggers.

    Attributes:
        sketches: of the last validation or test, by index of the data loader, on all ranks.
    """

    def __init__(
        self,
        input: Input,  # noqa: A002  # the word says what it is
        kind: Kind = "binary",
        classes: int | None = None,
        *,
        scores: Sequence[str] = USUAL_SCORES,
        bins: int = BINS,
        prediction: str | None = None,
        target: str = "target",
        mask: str | None = None,
        names: str = "{stage}_{score}",
        diagram_every: int = 1,
        folder: str | Path | None = None,
    ) -> None:
        super().__init__()
        check_input(input)
        self.input, self.kind, self.classes, self.bins = input, kind, classes, bins
        self.scores = check_scores(scores, self._empty(), bins)
        self.prediction, self.target, self.mask = prediction or input, target, mask
        self.names = _checked_names(names)
        self.diagrams = Diagrams(diagram_every, bins, None if folder is None else Path(folder))
        self.sketches: dict[int, CalibrationSketch] = {}
        self._counting: dict[int, CalibrationSketch] = defaultdict(self._empty)

    def on_validation_epoch_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Start anew."""
        self._counting.clear()

    def on_test_epoch_start(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Start anew."""
        self._counting.clear()

    def on_validation_batch_end(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        outputs: Any,
        batch: Any,
        batch_idx: int,
        dataloader_idx: int = 0,
    ) -> None:
        """Count a batch."""
        if not trainer.sanity_checking:
            self._count(outputs, f"{type(pl_module).__name__}.validation_step", dataloader_idx)

    def on_test_batch_end(
        self,
        trainer: Trainer,
        pl_module: LightningModule,
        outputs: Any,
        batch: Any,
        batch_idx: int,
        dataloader_idx: int = 0,
    ) -> None:
        """Count a batch."""
        self._count(outputs, f"{type(pl_module).__name__}.test_step", dataloader_idx)

    def on_validation_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Report what was counted."""
        if not trainer.sanity_checking:
            self._report(trainer, pl_module, "val", len(trainer.num_val_batches))

    def on_test_epoch_end(self, trainer: Trainer, pl_module: LightningModule) -> None:
        """Report what was counted."""
        self._report(trainer, pl_module, "test", len(trainer.num_test_batches))

    def _count(self, outputs: Any, step: str, loader: int) -> None:
        scores, target = (self._item(outputs, key, step) for key in (self.prediction, self.target))
        mask = None if self.mask is None else self._item(outputs, self.mask, step)
        sketch = self._counting[loader]
        labels = class_labels(self.target, target, scores, sketch)
        updated(sketch, self.input, scores.detach(), labels, mask)

    def _item(self, outputs: Any, key: str, step: str) -> Tensor:
        if not isinstance(outputs, Mapping) or key not in outputs:
            keys = sorted(map(str, outputs)) if isinstance(outputs, Mapping) else None
            came = f"one with {keys}" if keys is not None else type(outputs).__name__
            raise ValueError(
                f"CalibrationCallback: {step} must return a dictionary with {self.prediction!r} "
                f"and {self.target!r}, got {came}; other keys are named by prediction=..., "
                f"target=... and mask=..."
            )
        item: Tensor = outputs[key]
        return item

    def _report(self, trainer: Trainer, module: LightningModule, stage: str, loaders: int) -> None:
        counted = [self._counting[loader] for loader in range(loaders)]
        totals = summed_over_ranks(counted, trainer.strategy, trainer.world_size, module.device)
        self.sketches = {k: total for k, total in enumerate(totals) if total.voxels}
        for loader, sketch in self.sketches.items():
            suffix = f"/dataloader_idx_{loader}" if loaders > 1 else ""
            found = score_tensors(sketch, self.bins, torch.device("cpu"))
            named = {self._named(stage, name) + suffix: found[name].item() for name in self.scores}
            # The ranks hold equal numbers; sync_dist keeps Lightning from recommending it.
            module.log_dict(named, sync_dist=True, add_dataloader_idx=False)
        if trainer.is_global_zero:
            self.diagrams.show(
                {
                    self._named(stage, "reliability") + (f"_{k}" if loaders > 1 else ""): sketch
                    for k, sketch in self.sketches.items()
                },
                trainer.loggers,
                trainer.global_step,
            )

    def _named(self, stage: str, score: str) -> str:
        return self.names.format(stage=stage, score=score)

    def _empty(self) -> CalibrationSketch:
        return CalibrationSketch(self.kind, self.classes)


def _checked_names(names: str) -> str:
    try:
        shown = {names.format(stage=s, score=n) for s in ("val", "test") for n in USUAL_SCORES}
    except (KeyError, IndexError, ValueError):
        shown = set()
    if len(shown) < 2 * len(USUAL_SCORES):
        raise ValueError(
            f"names: expected a text with {{stage}} and {{score}}, such as '{{stage}}/{{score}}', "
            f"got {names!r}"
        )
    return names
