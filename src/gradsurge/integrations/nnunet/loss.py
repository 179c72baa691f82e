"""A loss of ours on what nnU-Net hands to its own: lists of outputs, labels, ignored voxels."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from gradsurge.integrations.nnunet.settings import TrainerSettings
from gradsurge.losses import DeepSupervision, make_loss
from gradsurge.losses.strength import RULE

Outputs = Tensor | Sequence[Tensor]
_WITHOUT_SCORE = ("ce", "svls", "nacl")  # these have no score of a region to take over a batch


class Task(NamedTuple):
    """What nnU-Net's plans and `dataset.json` say of the loss.

    Attributes:
        heads: channels of the network's outputs.
        regions: whether they are regions that may overlap (sigmoid), not classes (softmax).
        ignore_label: class index of voxels without a label; of regions, the last target channel
            marks them.
        batch_dice: whether the score is of the whole batch, on all ranks, not of each sample.
    """

    heads: int
    regions: bool = False
    ignore_label: int | None = None
    batch_dice: bool = False


class TrainerLoss(nn.Module):
    """What an nnU-Net trainer calls: loss(outputs, targets), lists with deep supervision.

    While ``watch`` is set, it is given the finest output and its target, without gradient: so the
    validation is counted without a second forward pass.

    Args:
        loss: of (outputs, targets) or, with ``ignored_last``, of (outputs, targets, masks).
        ignored_last: whether the last channel of a target marks the voxels to leave out.
        offset: added to the value; the gradient does not see it.
    """

    watch: Callable[[Tensor, Tensor], object] | None = None

    def __init__(self, loss: nn.Module, *, ignored_last: bool = False, offset: float = 0.0) -> None:
        super().__init__()
        self.loss, self.ignored_last, self.offset = loss, ignored_last, offset

    def forward(self, outputs: Outputs, targets: Outputs) -> Tensor:
        if self.watch is not None:
            with torch.no_grad():
                self.watch(_finest(outputs), _finest(targets))
        given: tuple[Any, ...] = (outputs, targets)
        if self.ignored_last:
            given = (outputs, *_without_ignored(targets))
        value: Tensor = self.loss(*given)
        return value + self.offset if self.offset else value


def build_loss(
    settings: TrainerSettings, task: Task, level_weights: Sequence[float] | None
) -> TrainerLoss:
    """Return the loss of the settings with the weights, values and reductions of nnU-Net's own.

    Cross-entropy and region loss weigh 1 and 1, background counts in neither score, and the value
    of a Dice loss is -D as nnU-Net writes it, not 1 - D. Where regions come with an ignore label,
    nnU-Net sums the binary cross-entropy over channels instead of averaging it; so does this.

    Args:
        settings: with the name of the loss and its options.
        task: what the plans say.
        level_weights: of the outputs, finest first; None without deep supervision.

    Raises:
        ValueError: the loss does not take an option, or cannot learn from this data set.
    """
    options = {**_facts(settings.loss, task), **settings.loss_options}
    if settings.surgical:
        options |= {name: getattr(settings, name) for name in RULE} | {"classes": task.heads}
    try:
        loss = make_loss(settings.loss, **options)
    except TypeError as error:
        raise ValueError(_for_users(str(error), task)) from error
    ignored_last = task.regions and task.ignore_label is not None
    offset = -1.0 if _is_dice(settings.loss) else 0.0
    if settings.loss.startswith("ce+"):
        offset *= options["weights"][1]
    if level_weights is not None:
        loss = DeepSupervision(loss, [float(w) for w in level_weights])
    return TrainerLoss(loss, ignored_last=ignored_last, offset=offset)


def _facts(name: str, task: Task) -> dict[str, Any]:
    # Unchecked as in nnU-Net: looking at values would make a GPU wait in every step.
    facts: dict[str, Any] = {"check": False}
    if task.regions:
        facts["activation"] = "sigmoid"
    elif task.ignore_label is not None:
        facts["ignore_index"] = task.ignore_label
    if name not in _WITHOUT_SCORE:
        facts["batch"] = task.batch_dice
    if name.startswith("ce+"):
        summed = task.regions and task.ignore_label is not None
        facts["weights"] = (float(task.heads) if summed else 1.0, 1.0)
    return facts


def _is_dice(name: str) -> bool:
    return name.removeprefix("ce+").removesuffix("-surgery") == "dice"


def _for_users(message: str, task: Task) -> str:
    """Say what a user can mend: an option that the data set brought was not theirs."""
    if task.regions and "unknown option 'activation'" in message:
        return (
            "loss: this data set has regions, which may overlap, and this loss is for exclusive "
            "classes; choose another"
        )
    return f"loss_options: {message}"


def _finest(tensors: Outputs) -> Tensor:
    return tensors if isinstance(tensors, Tensor) else tensors[0]


def _without_ignored(targets: Outputs) -> tuple[Outputs, Outputs]:
    """Return regions, and the voxels that count; the last channel of a target marks the others."""
    if isinstance(targets, Tensor):
        return targets[:, :-1], targets[:, -1:] == 0
    return [t[:, :-1] for t in targets], [t[:, -1:] == 0 for t in targets]
