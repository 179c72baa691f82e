"""The optimiser of a training."""

from torch import nn
from torch.optim import SGD, AdamW, Optimizer

from gradsurge.training.settings import TrainSettings


def make_optimiser(model: nn.Module, settings: TrainSettings) -> Optimizer:
    """Return the optimiser of all parameters that learn.

    SGD decays every weight, as nnU-Net's does. AdamW leaves parameters with one axis alone (norms,
    biases, layer scales), as is usual for transformers.

    Raises:
        ValueError: the model has no parameters that learn.

    >>> model = nn.Conv2d(1, 2, 3)
    >>> groups = make_optimiser(model, TrainSettings(steps=1, optimiser="adamw")).param_groups
    >>> [(len(group["params"]), group["weight_decay"]) for group in groups]
    [(1, 3e-05), (1, 0.0)]
    """
    learning = [p for p in model.parameters() if p.requires_grad]
    if not learning:
        raise ValueError(f"model: {type(model).__name__} has no parameters that learn")
    if settings.optimiser == "sgd":
        return SGD(
            learning,
            lr=settings.learning_rate,
            momentum=settings.momentum,
            nesterov=settings.momentum > 0,
            weight_decay=settings.weight_decay,
        )
    groups = (
        {"params": [p for p in learning if p.ndim > 1], "weight_decay": settings.weight_decay},
        {"params": [p for p in learning if p.ndim <= 1], "weight_decay": 0.0},
    )
    return AdamW(
        [group for group in groups if group["params"]],
        lr=settings.learning_rate,
        betas=settings.betas,
    )
