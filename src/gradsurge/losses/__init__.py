"""Losses: one a file, all loss(logits, target) -> scalar; `make_loss` builds them by name."""

from gradsurge.losses.ace import ACE
from gradsurge.losses.catalogue import LOSSES, make_loss
from gradsurge.losses.cross_entropy import CrossEntropy
from gradsurge.losses.deep_supervision import DeepSupervision
from gradsurge.losses.dice import Dice
from gradsurge.losses.dice_plus_plus import DicePlusPlus
from gradsurge.losses.equilibrium import Equilibrium
from gradsurge.losses.focal_tversky import FocalTversky
from gradsurge.losses.generalised_dice import GeneralisedDice
from gradsurge.losses.jaccard import Jaccard
from gradsurge.losses.nacl import NACL
from gradsurge.losses.region import RegionLoss
from gradsurge.losses.surgery_loss import Surgery
from gradsurge.losses.svls import SVLS
from gradsurge.losses.tversky import Tversky
from gradsurge.losses.weighted_sum import WeightedSum
from gradsurge.losses.with_cross_entropy import WithCrossEntropy

__all__ = [
    "ACE",
    "LOSSES",
    "NACL",
    "SVLS",
    "CrossEntropy",
    "DeepSupervision",
    "Dice",
    "DicePlusPlus",
    "Equilibrium",
    "FocalTversky",
    "GeneralisedDice",
    "Jaccard",
    "RegionLoss",
    "Surgery",
    "Tversky",
    "WeightedSum",
    "WithCrossEntropy",
    "make_loss",
]
