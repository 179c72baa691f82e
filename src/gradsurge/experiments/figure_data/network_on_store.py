"""A trained network and a store that it can read."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import torch
from torch import Tensor, nn

from gradsurge.data.case_error import shown
from gradsurge.data.store import Store
from gradsurge.experiments.prediction.device import find_device
from gradsurge.experiments.prediction.ensemble import preparation_difference
from gradsurge.experiments.runs import Task, TrainedRun, open_run
from gradsurge.experiments.runs.corrections import NONE
from gradsurge.experiments.runs.recalibrated_counts import corrected
from gradsurge.experiments.runs.whole_cases import WholeCases, evaluating

AUTO = "auto"


@dataclass(frozen=True)
class NetworkOnStore:
    """The network of a run, and cases to put through it.

    Attributes:
        run: that has ended.
        store: prepared as the run's own was.
        device: where the network is.
    """

    run: TrainedRun
    store: Store
    device: torch.device

    @property
    def task(self) -> Task:
        """What the network tells."""
        return self.run.task

    def logits(self, case: str) -> Tensor:
        """Return (K, *S), float32, of a whole case.

        Raises:
            CaseError: the case is damaged.
        """
        with evaluating(self._model) as model:
            return self._cases.logits(model, case)

    def probabilities(self, case: str, correction: str = NONE) -> Tensor:
        """Return those of the foreground, (F, *S), after a correction.

        Args:
            case: its name.
            correction: "none", "auto" for the run's own choice, or the name of one.

        Raises:
            ValueError: the run has no such correction.
        """
        name = self.correction_name(correction)
        with torch.inference_mode():
            found = None if name == NONE else self.run.corrections[name]
            return self.task.foreground_of(corrected(self.task, found, self.logits(case)))

    def correction_name(self, correction: str) -> str:
        """Return which correction is meant: "auto" is the run's own choice.

        Raises:
            ValueError: the run has no such correction.
        """
        name = self.run.default_correction if correction == AUTO else correction
        if name != NONE and name not in self.run.corrections:
            there = ", ".join((NONE, *self.run.corrections))
            why = ", which needs a surgery loss" if name == "equilibrium" else ""
            raise ValueError(
                f"correction: {shown(self.run.folder)} has no {name!r}{why}; it has: {there}"
            )
        return name

    @cached_property
    def _model(self) -> nn.Module:
        return self.run.model().to(self.device)

    @cached_property
    def _cases(self) -> WholeCases:
        return WholeCases(self.store, tuple(self.run.config.model.patch), self.device)


def open_on(store: Store, folder: Path) -> NetworkOnStore:
    """Open a finished run to look at cases of a store.

    Raises:
        ValueError: it is no finished run, or the store is not prepared as the run's was.
    """
    run = open_run(folder)
    difference = preparation_difference(run.config.dataset, store.dataset)
    if difference is not None:
        raise ValueError(
            f"{shown(folder)}: was trained on another kind of store than {shown(store.path)}: "
            f"{difference}; give the store it was trained on ({run.config.store})"
        )
    return NetworkOnStore(run, store, find_device())
