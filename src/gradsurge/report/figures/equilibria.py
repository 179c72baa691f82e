"""Where each loss leaves voxels that nobody can tell apart, against the truth about them.

The simulation is `gradsurge.experiments.equilibria`: sets of voxels with one shared free logit, a
fraction r of them foreground.
"""

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from gradsurge.experiments.equilibria import Comparison, compare
from gradsurge.report.style import BACKGROUND, FAINT, FOREGROUND, INK, OURS, styled

_LOOKS: dict[str, dict[str, Any]] = {
    "ce": {"label": "cross-entropy", "marker": "o", "color": INK, "mfc": "white", "ms": 6.5},
    "dice": {"label": "Dice", "marker": "s", "color": BACKGROUND, "ms": 4.5},
    "dice-surgery": {"label": "Dice surgery", "marker": "^", "color": FOREGROUND, "ms": 5},
    "corrected": {
        "label": "Dice surgery, corrected",
        "marker": "D",
        "color": OURS,
        "ms": 3,
    },
}


def compute() -> Comparison:
    """Run the simulation."""
    return compare()


def numbers(data: Comparison) -> dict[str, float]:
    """Return errors, final Dice losses, and the shift as measured and in closed form."""
    found = {f"{name}: mean |p - r|": error for name, error in data.errors().items()}
    surgery = data.settled["dice-surgery"]
    score = 1.0 - surgery.loss
    return found | {
        "dice: soft Dice score at rest": 1.0 - data.settled["dice"].loss,
        "dice-surgery: soft Dice score D at rest": score,
        "dice-surgery: measured shift": float(surgery.shift[1]),
        "dice-surgery: log((2 - D) / D)": float(np.log((2 - score) / score)),
    }


@styled
def draw(data: Comparison) -> Figure:
    """Draw final probabilities over ratios, with the closed form as a line."""
    figure = Figure(figsize=(4.5, 4.3), layout="constrained")
    axis = figure.subplots()
    r = np.linspace(0.001, 0.999, 400)
    score = 1.0 - data.settled["dice-surgery"].loss
    axis.plot([0, 1], [0, 1], color=FAINT, lw=1, zorder=1, label="p = r: calibrated")
    odds = r / (1 - r) * (2 - score) / score
    label = "odds(p) = odds(r) (2 − D) / D"
    axis.plot(r, odds / (1 + odds), color=FOREGROUND, lw=1, zorder=1, label=label)
    for name, p in data.columns().items():
        axis.plot(data.ratios, p, ls="none", clip_on=False, zorder=3, **_LOOKS[name])
    axis.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
    axis.set_xlabel("true share r of foreground in the set")
    axis.set_ylabel("probability p at rest")
    axis.legend(loc="lower right", borderaxespad=0.6, handletextpad=0.3)
    return figure
