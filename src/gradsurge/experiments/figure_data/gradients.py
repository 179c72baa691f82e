"""Figure 2 of the paper: what each loss would send back to the logits of one real prediction.

The logits are those of a trained network on a whole case. Every loss gets the same ones, and its
own backward pass tells the gradient; for surgery the operated field. The network is not asked: the
figure shows what would reach it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from gradsurge.experiments.figure_data.confident_errors import (
    CONFIDENT,
    choose_structure,
    structure_errors,
)
from gradsurge.experiments.figure_data.interesting_cases import (
    cases_to_look_at,
    most_confidently_wrong,
)
from gradsurge.experiments.figure_data.network_on_store import NetworkOnStore
from gradsurge.experiments.figure_data.shown_case import ShownCase, show_case
from gradsurge.experiments.runs import RunConfig
from gradsurge.experiments.runs.run_loss import make_run_loss

LOSSES: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "Dice": ("dice", {}),
    "CE": ("ce", {}),
    "Dice surgery": ("dice-surgery", {"paper": True}),
    # The decline takes back what surgery gives the most confident errors: both are worth a look.
    "surgery, no decline": ("dice-surgery", {"paper": True, "decline": None}),
}


@dataclass(frozen=True)
class LogitGradients:
    """A slice of a case with the pull of each loss on the structure's logit.

    Attributes:
        loss: what the network was trained with.
        shown: the slice.
        probability: of the structure, (H, W).
        pulls: title of a loss -> magnitude as a share of its largest one in the case, (H, W).
        at_confident_errors: title -> mean of that share over all confident errors of the case; NaN
            where there is none.
    """

    loss: str
    shown: ShownCase
    probability: NDArray[np.float32]
    pulls: Mapping[str, NDArray[np.float32]]
    at_confident_errors: Mapping[str, float]


def logit_gradients(
    network: NetworkOnStore,
    case: str | None = None,
    number: int | None = None,
    structure: str | None = None,
    on_case: Callable[[str], object] = lambda _: None,
) -> LogitGradients:
    """Return the gradients of a case; by default one that the network is surely wrong about.

    Args:
        network: whose prediction it is.
        case: its name; None for the one with the most confident errors among some of the test
            cases.
        number: of the slice, from 1; None for the one with the most confident errors.
        structure: whose logit is looked at; None for the one with the most confident errors.
        on_case: hears of each case before it is predicted.

    Raises:
        ValueError: there is no such case, slice or structure, or a case is damaged.
    """
    candidates = cases_to_look_at(network.store, [] if case is None else [case])
    name = most_confidently_wrong(network, candidates, on_case=on_case)[0]
    on_case(name)
    return _of_case(network, name, number, structure)


def _of_case(
    network: NetworkOnStore, name: str, number: int | None, structure: str | None
) -> LogitGradients:
    logits = network.logits(name)
    label = torch.from_numpy(network.store.case(name).read_label())
    task = network.task
    p = task.foreground_of(task.probabilities(logits))
    errors = structure_errors(task, p, label)
    k = choose_structure(task, errors, structure)
    shown = show_case(
        network.store, name, task.names[k], errors[k], task.foreground(label)[k], number
    )
    pulls = {
        title: _share(field[k - len(task.names)])
        for title, field in fields_on_logits(network.run.config, logits, label).items()
    }
    sure = errors[k] >= CONFIDENT
    return LogitGradients(
        loss=network.run.config.loss,
        shown=shown,
        probability=shown.cut.plane(p[k].numpy()),
        pulls={title: shown.cut.plane(share.numpy()) for title, share in pulls.items()},
        at_confident_errors={title: float(s[sure].double().mean()) for title, s in pulls.items()},
    )


def fields_on_logits(
    config: RunConfig,
    logits: Tensor,
    label: Tensor,
    losses: Mapping[str, tuple[str, Mapping[str, Any]]] = LOSSES,
) -> dict[str, Tensor]:
    """Return what flows back to the logits of a case from each loss.

    Args:
        config: of the run, which tells classes and unknown labels.
        logits: (K, *S).
        label: class numbers (*S).
        losses: title -> name and options.

    Returns:
        Title -> (K, *S): the gradient, or the operated field of a surgery loss.
    """
    target = config.task.target(label.unsqueeze(0))
    found = {}
    for title, (name, options) in losses.items():
        loss = make_run_loss(replace(config, loss=name, loss_options=options), 1)
        z = logits.detach().clone().unsqueeze(0).requires_grad_()
        (field,) = torch.autograd.grad(loss(z, target), z)
        found[title] = field[0]
    return found


def _share(field: Tensor) -> Tensor:
    """Return magnitudes as shares of the largest."""
    magnitude = field.abs()
    return magnitude / magnitude.max().clamp_min(torch.finfo(magnitude.dtype).tiny)
