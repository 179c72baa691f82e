"""NLL and ECE of each epoch among the lists of nnU-Net's logger, which its checkpoints keep."""

import math
from typing import Any

NLL, ECE = "val_nll", "val_ece"


class EpochLog:
    """Two lists more in a logger of nnU-Net.

    Its lists must have one entry an epoch, or it draws no further than the shortest.

    Args:
        logger: nnU-Net's `MetaLogger`.
    """

    def __init__(self, logger: Any) -> None:
        self.logger = logger
        self.fill_up(0)

    @property
    def _lists(self) -> dict[str, list[Any]]:
        lists: dict[str, list[Any]] = self.logger.get_checkpoint()
        return lists

    def fill_up(self, epochs: int) -> None:
        """Have a number, NaN where nobody counted, for each epoch of a checkpoint that was loaded.

        Checkpoints of other trainers have no such lists.
        """
        for key in (NLL, ECE):
            known = self._lists.setdefault(key, [])
            known += [math.nan] * (epochs - len(known))

    def add(self, nll: float, ece: float, epoch: int) -> None:
        """Log the scores of an epoch; also where nnU-Net logs besides, as Weights & Biases."""
        for key, value in ((NLL, nll), (ECE, ece)):
            self.logger.log(key, value, epoch)

    def curves(self) -> tuple[list[float], list[float]]:
        """Return NLL and ECE of all epochs."""
        return self._lists[NLL], self._lists[ECE]
