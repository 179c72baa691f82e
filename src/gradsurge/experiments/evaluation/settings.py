"""What is measured, and on which voxels."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from gradsurge.data import LabelSet

Region = Literal["all", "active", "mask", "band"]
Profile = Literal["foreground", "paper"]
# The label of the common row of several structures: means, and joint scores (`ALL_STRUCTURES`).
ALL = "all structures"


@dataclass(frozen=True)
class Settings:
    """Settings of an evaluation.

    Attributes:
        logits: whether the files hold logits; they hold probabilities otherwise.
        multilabel: whether channels may overlap (sigmoid), and not exclude each other (softmax).
        label_sets: structures to score, each a set of label values; the label values themselves
            if empty.
        regions: voxels that count: all of them, the label together with the hard mask, a mask
            file, or a band round the label's boundary. The first is the one models are compared on.
        masks: folder of mask files, for the region "mask".
        band_mm: how far the band reaches on either side of the boundary.
        profile: which scores head the tables; both are always computed.
        bins: number of equal-width bins, a divisor of 25200.
        minimum: fewest voxels of a bin that counts for the maximum calibration error.
        lesions: whether to look at connected components.
        lesion_edges: borders of the size classes, in mm³ (mm² in 2D); quartiles if None.
        surface_mm: tolerance of the normalised surface distance; None to leave surfaces out.
        allow_empty: whether cases with an empty label are scored, and not left out.
    """

    logits: bool = False
    multilabel: bool = False
    label_sets: tuple[LabelSet, ...] = ()
    regions: tuple[Region, ...] = ("all", "active")
    masks: Path | None = None
    band_mm: float = 5.0
    profile: Profile = "foreground"
    bins: int = 15
    minimum: int = 1
    lesions: bool = True
    lesion_edges: tuple[float, ...] | None = None
    surface_mm: float | None = None
    allow_empty: bool = False
