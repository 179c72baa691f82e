"""Every loss by the name it has in the paper's tables."""

import difflib
import inspect
from collections.abc import Callable
from typing import Any

from torch import nn

from gradsurge.losses.ace import ACE
from gradsurge.losses.cross_entropy import CrossEntropy
from gradsurge.losses.dice import Dice
from gradsurge.losses.dice_plus_plus import DicePlusPlus
from gradsurge.losses.focal_tversky import FocalTversky
from gradsurge.losses.generalised_dice import GeneralisedDice
from gradsurge.losses.jaccard import Jaccard
from gradsurge.losses.nacl import NACL
from gradsurge.losses.region import RegionLoss, RegionOptions
from gradsurge.losses.strength import RULE, resolved
from gradsurge.losses.svls import SVLS
from gradsurge.losses.tversky import Tversky
from gradsurge.losses.weighted_sum import WeightedSum
from gradsurge.losses.with_cross_entropy import WithCrossEntropy
from gradsurge.surgery.rule import SurgeryRule
from gradsurge.surgery.targets import check_flag

_REGION: dict[str, type[RegionLoss]] = {
    "dice": Dice,
    "tversky": Tversky,
    "jaccard": Jaccard,
    "generalised-dice": GeneralisedDice,
    "focal-tversky": FocalTversky,
}
_VOXEL: dict[str, type[nn.Module]] = {
    "ce": CrossEntropy,
    "dice++": DicePlusPlus,
    "svls": SVLS,
    "nacl": NACL,
    "ace": ACE,
}
_WITH_DICE = ("svls", "nacl", "ace")
_SURGERY_OPTIONS = {*RULE, "blend", "hard_statistics", "classes"}

LOSSES: tuple[str, ...] = (
    *(n for n in _VOXEL if n != "ace"),
    *(f"{n}+dice" for n in _WITH_DICE),
    *(f"{ce}{n}{end}" for n in _REGION for ce in ("", "ce+") for end in ("", "-surgery")),
)


def make_loss(
    name: str, *, paper: bool = False, optimiser: str | None = None, **options: Any
) -> nn.Module:
    """Return the loss of that name: a module, loss(logits, target) -> scalar.

    Args:
        name: one of `LOSSES`: the rows of the paper's tables (ce, dice, dice-surgery, tversky,
            tversky-surgery, ce+dice, ce+dice-surgery, dice++, svls, svls+dice, nacl, nacl+dice,
            ace+dice), and jaccard, generalised-dice and focal-tversky in the same four forms.
        paper: take the paper's strength of the surgery, whatever the optimiser: decline 20, scale
            0.25, not normalised; weights 0.5 and 0.5 of cross-entropy and region loss.
        optimiser: "sgd" takes a strength with which SGD learns rare structures, too: no decline,
            scale 0.5, normalised, weights 1 and 1. "adamw" and None take the paper's.
        **options: what the loss's class takes (activation, smooth, batch, include_background,
            class_weights, ignore_index, gamma, a, b, sigma, strength, bins, ...); ``weights`` for
            the two terms of a sum; for ``-surgery``: decline, scale, normalise, blend,
            hard_statistics.

    >>> make_loss("tversky-surgery", a=0.3, paper=True).surgery
    SurgeryRule(decline=20.0, scale=0.25, normalise=False)
    """
    if name not in LOSSES:
        close = difflib.get_close_matches(str(name), LOSSES, n=1)
        hint = f"did you mean {close[0]!r}? " if close else ""
        raise ValueError(f"name: unknown loss {name!r}; {hint}known: {', '.join(LOSSES)}")
    options = resolved(name, {**options, "paper": check_flag("paper", paper)}, optimiser)
    if name in _VOXEL:
        return _build(name, _VOXEL[name], options)
    first = name.split("+", maxsplit=1)[0]
    if first in _WITH_DICE:
        return _sum_with_dice(name, _VOXEL[first], options)
    return _region(name, options)


def _region(name: str, options: dict[str, Any]) -> nn.Module:
    bare = name.removeprefix("ce+")
    kind = _REGION[bare.removesuffix("-surgery")]
    allowed = _names(kind) - {"surgery"} - _SURGERY_OPTIONS
    if bare.endswith("-surgery"):
        allowed |= _SURGERY_OPTIONS
    if name != bare:
        allowed |= {"weights"}
    _refuse_unknown(name, options, allowed)
    options = dict(options)
    compound = {k: options.pop(k) for k in ("weights",) if k in options}
    blend = options.pop("blend", None)
    if bare.endswith("-surgery"):
        rule = {k: options.pop(k) for k in RULE if k in options}
        options["surgery"] = SurgeryRule(**rule)
    loss = kind(**options)
    if blend is not None:
        loss.blend = blend
    return loss if name == bare else WithCrossEntropy(loss, **compound)


def _sum_with_dice(name: str, kind: type[nn.Module], options: dict[str, Any]) -> nn.Module:
    """Build a sum; an option goes to each of the two losses that takes it."""
    dice = _names(Dice) - {"surgery"} - _SURGERY_OPTIONS
    allowed, note = _names(kind) | dice | {"weights"}, ""
    if "activation" not in _names(kind):  # Dice alone would heed it
        allowed, note = allowed - {"activation"}, f"{kind.__name__} is softmax only, and "
    _refuse_unknown(name, options, allowed, note)
    first = kind(**{k: v for k, v in options.items() if k in _names(kind)})
    second = Dice(**{k: v for k, v in options.items() if k in dice})
    return WeightedSum(first, second, options.get("weights", (1.0, 1.0)))


def _build(name: str, kind: type[nn.Module], options: dict[str, Any]) -> nn.Module:
    _refuse_unknown(name, options, _names(kind))
    return kind(**options)


def _names(kind: Callable[..., Any]) -> set[str]:
    """Return the options a loss class takes."""
    parameters = inspect.signature(kind).parameters
    names = {n for n, p in parameters.items() if p.kind is not p.VAR_KEYWORD}
    return names | set(RegionOptions.__annotations__) if len(names) < len(parameters) else names


def _refuse_unknown(name: str, options: dict[str, Any], allowed: set[str], note: str = "") -> None:
    for option in options:
        if option not in allowed:
            raise TypeError(
                f"make_loss({name!r}): unknown option {option!r}; "
                f"{note if option == 'activation' else ''}it takes "
                f"{', '.join(sorted(allowed))}"
            )
