"""A model's reliability diagram with the histogram of its probabilities under it.

The other models' curves are in the background, so that diagrams side by side compare.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from gradsurge.calibration.reliability import ReliabilityCurve
from gradsurge.report.figures.model_looks import ModelLook
from gradsurge.report.style import FAINT, styled

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")

FEW = 100
"""Bins with fewer voxels than this are drawn faintly: their frequency is hardly known."""


class Reliability(NamedTuple):
    """What a diagram shows of one model; bins without voxels are left out, but for ``counts``.

    Attributes:
        probability: mean p of the bin.
        frequency: how often the label was the structure.
        low: lower end of the frequency's interval; NaN if there is none.
        high: upper end.
        few: whether the bin has few voxels.
        edges: borders of all bins.
        counts: voxels of all bins.
        others: (probability, frequency) of the other models.
    """

    probability: Array
    frequency: Array
    low: Array
    high: Array
    few: Flags
    edges: Array
    counts: Array
    others: list[tuple[Array, Array]]


def compute(
    curve: ReliabilityCurve, others: Sequence[ReliabilityCurve] = (), few: int = FEW
) -> Reliability:
    """Return what is drawn of a pooled curve, with the curves of other models behind it."""
    there = curve.counts > 0
    return Reliability(
        probability=curve.probability[there],
        frequency=curve.frequency[there],
        low=curve.low[there],
        high=curve.high[there],
        few=curve.counts[there] < few,
        edges=np.append(curve.lower, curve.upper[-1]),
        counts=curve.counts.astype(np.float64),
        others=[(c.probability[c.counts > 0], c.frequency[c.counts > 0]) for c in others],
    )


@styled
def draw(data: Reliability, look: ModelLook) -> Figure:
    """Draw the diagram above its histogram."""
    figure = Figure(figsize=(3.3, 4.25))
    above, below = figure.subplots(
        2,
        1,
        sharex=True,
        height_ratios=(2.9, 1),
        gridspec_kw={"left": 0.17, "right": 0.97, "top": 0.985, "bottom": 0.1, "hspace": 0.09},
    )
    _draw_curve(above, data, look)
    _draw_histogram(below, data, look)
    figure.align_ylabels((above, below))
    return figure


def _draw_curve(axis: Axes, data: Reliability, look: ModelLook) -> None:
    axis.plot([0, 1], [0, 1], color=FAINT, lw=1, ls=(0, (4, 3)), zorder=1)
    for probability, frequency in data.others:
        axis.plot(probability, frequency, color="#CFCFCF", lw=1.1, zorder=1.5)
    known = ~np.isnan(data.low) & ~np.isnan(data.high)
    axis.vlines(
        data.probability[known],
        data.low[known],
        data.high[known],
        color=look.colour,
        lw=3.6,
        alpha=0.28,
        zorder=2,
    )
    axis.plot(data.probability, data.frequency, color=look.colour, lw=1.5, zorder=3)
    for few, alpha in ((False, 1.0), (True, 0.3)):
        chosen = data.few == few
        axis.plot(
            data.probability[chosen],
            data.frequency[chosen],
            ls="none",
            marker=look.marker,
            ms=5,
            mec="white",
            mew=0.6,
            color=look.colour,
            alpha=alpha,
            clip_on=False,
            zorder=4,
        )
    axis.set(xlim=(0, 1), ylim=(0, 1), ylabel="observed frequency")
    axis.set_xticks(np.linspace(0, 1, 6))
    axis.set_yticks(np.linspace(0, 1, 6))


def _draw_histogram(axis: Axes, data: Reliability, look: ModelLook) -> None:
    top = max(float(data.counts.max(initial=0.0)), 1.0)
    # A bar starts at half a voxel, so that a single voxel shows and an empty bin does not.
    shown = np.where(data.counts > 0, data.counts, 0.5)
    axis.stairs(shown, data.edges, baseline=0.5, fill=True, color=look.colour, alpha=0.6)
    axis.set_axisbelow(True)
    axis.set_yscale("log")
    decades = int(np.ceil(np.log10(top))) or 1
    axis.set_ylim(0.5, 1.6 * 10**decades)
    step = -(-decades // 4)
    powers = range(0, decades + 1, step)
    axis.set_yticks([10.0**k for k in powers], [f"10{str(k).translate(_RAISED)}" for k in powers])
    axis.minorticks_off()
    axis.set(xlabel="predicted probability", ylabel="voxels")
