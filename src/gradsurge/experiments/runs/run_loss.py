"""The loss of a run: what its name and options say, on the outputs of its model."""

from collections.abc import Mapping
from typing import Any

from torch import nn

from gradsurge.experiments.runs.config import RunConfig
from gradsurge.losses import DeepSupervision, make_loss

FOLLOWS = {  # option of a loss -> what it follows from
    "activation": "store",
    "ignore_index": "store",
    "classes": "store",
    "optimiser": "training",
}


def make_run_loss(config: RunConfig, levels: int) -> nn.Module:
    """Return the loss of a run for a model with so many outputs while training.

    Raises:
        ValueError: an option is not one of this loss, or the loss cannot learn from this store.
    """
    task = config.task
    for name, whole in FOLLOWS.items():
        if name in config.loss_options:
            raise ValueError(f"loss option {name}: follows from the {whole} and is not to be given")
    facts = {"activation": task.activation, "ignore_index": task.ignore_index}
    # What is the default anyway is not said: not every loss takes it.
    said = {k: v for k, v in facts.items() if v not in ("softmax", None)}
    given = {"optimiser": config.training.optimiser, **config.loss_options, **said}
    options: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in given.items()}
    try:
        loss = make_loss(config.loss, **options)
    except TypeError as error:
        raise ValueError(_without_facts(str(error), said)) from error
    return DeepSupervision(loss, levels) if levels > 1 else loss


def _without_facts(message: str, said: Mapping[str, object]) -> str:
    """Say what a user can mend: an option that the store brought was not theirs."""
    for name, value in said.items():
        if f"unknown option {name!r}" in message:
            what = {
                "activation": "has regions that overlap, which need sigmoid outputs",
                "ignore_index": f"has an ignore label ({value})",
            }[name]
            return f"loss: this store {what}, and this loss cannot learn from that; choose another"
    return message
