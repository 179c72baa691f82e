"""What a correction takes off the logit where a model is in doubt."""

import math

import torch

from gradsurge.calibration.recalibration import Recalibration

_FAR = -60.0  # the logit of a class that is out of the question


def logit_shift(correction: Recalibration) -> list[float]:
    """Return, for each structure, what its logit against background loses where p = 1/2.

    A bias of one structure takes off the same everywhere, a temperature nothing here, and the
    closed form beside cross-entropy or with a decline not quite the same everywhere. Nothing is
    returned where a structure is put out of the question, as by a rate of 0.

    >>> from gradsurge.calibration.recalibration import Equilibrium
    >>> rates = torch.tensor([[0.0, 1.0], [3.0, 0.0]])  # foreground pulls three times as hard
    >>> [round(math.exp(shift), 6) for shift in logit_shift(Equilibrium.from_rates(rates))]
    [3.0]
    """
    if correction.kind == "multiclass":
        structures = range(1, correction.classes)
        logits = torch.full((correction.classes, len(structures)), _FAR, dtype=torch.float64)
        logits[0] = 0.0
        for column, structure in enumerate(structures):
            logits[structure, column] = 0.0
        p = correction.apply_logits(logits, channel_axis=0)
        odds = torch.stack([p[0, at] / p[structure, at] for at, structure in enumerate(structures)])
    else:
        p = correction.apply_logits(
            torch.zeros(correction.channels, 1, dtype=torch.float64), channel_axis=0
        )
        odds = (1 - p[:, 0]) / p[:, 0]
    shifts: list[float] = odds.log().tolist()
    return shifts if all(map(math.isfinite, shifts)) else []
