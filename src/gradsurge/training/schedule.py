"""The learning rate of a step."""

from torch.optim import Optimizer

from gradsurge.training.settings import TrainSettings


def learning_rate(settings: TrainSettings, step: int) -> float:
    """Return the learning rate after ``step`` steps: a linear rise, then a polynomial fall.

    With W = warmup, S = steps and t = step: (t + 1) / W of the highest for t < W, and then
    (1 - (t - W) / (S - W))^power. nnU-Net changes the rate once an epoch, here every step does.

    >>> settings = TrainSettings(steps=12, learning_rate=1.0, warmup=2, power=0.9)
    >>> [round(learning_rate(settings, step), 3) for step in (0, 1, 2, 7, 11)]
    [0.5, 1.0, 1.0, 0.536, 0.126]
    """
    if step < settings.warmup:
        return settings.learning_rate * (step + 1) / settings.warmup
    done = (step - settings.warmup) / (settings.steps - settings.warmup)
    return float(settings.learning_rate * (1.0 - done) ** settings.power)


def set_learning_rate(optimiser: Optimizer, rate: float) -> None:
    """Give all parameters this learning rate."""
    for group in optimiser.param_groups:
        group["lr"] = rate
