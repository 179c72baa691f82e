"""What is compared: a loss with its options, a schedule, and where it starts from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from gradsurge.experiments.recipes.space import Space
from gradsurge.experiments.runs.surgery_schedule import SurgerySchedule


@dataclass(frozen=True)
class Variant:
    """A row of a table.

    Attributes:
        name: unique in the recipe and safe as a folder's name: a loss ("dice-surgery"), or a loss,
            a point and what is special ("dice-surgery.hard").
        title: what tables call it.
        loss: one of `gradsurge.losses.LOSSES`.
        loss_options: of `make_loss`, fixed.
        space: what is searched for this variant beside what is searched for all.
        surgery: when it sets in.
        init: name of the variant that it goes on from: its run at the same point and with the same
            seed. Both take one point, so that run is there.
        training: fields of `TrainSettings`, over those of the recipe.
        share: of the recipe's steps that it trains. A start of 0.6 and 0.4 that go on from it
            make the same budget as everybody's; 0.5 or 3 show whether it is enough.
        seeds: how often it is trained at the chosen point, with seeds 0, 1, ...
        point_of: name of the variant whose chosen point it takes; nothing is searched for it.
    """

    name: str
    title: str
    loss: str
    loss_options: Mapping[str, Any] = field(default_factory=dict)
    space: Space = field(default_factory=dict)
    surgery: SurgerySchedule = field(default_factory=SurgerySchedule)
    init: str | None = None
    training: Mapping[str, Any] = field(default_factory=dict)
    share: float = 1.0
    seeds: int = 1
    point_of: str | None = None


_OF_LOSSES = {
    "ce": "CE",
    "svls": "SVLS",
    "nacl": "NACL",
    "ace+dice": "Dice + mL1-ACE",
    "dice++": "Dice++",
}
_WORDS = {"ce": "CE", "svls": "SVLS", "nacl": "NACL"}


def title_of(name: str, loss: str) -> str:
    """Return the title of a variant, in the words of the paper's tables.

    >>> title_of("ce+dice-surgery", "ce+dice-surgery"), title_of("dice.hard", "dice")
    ('CE + Dice - Surgery', 'Dice (hard)')
    """
    _, _, special = name.partition(".")
    return f"{_of_loss(loss)} ({special})" if special else _of_loss(loss)


def _of_loss(loss: str) -> str:
    if loss in _OF_LOSSES:
        return _OF_LOSSES[loss]
    plain = loss.removesuffix("-surgery")
    sum_of = [_WORDS.get(word, word.capitalize()) for word in plain.split("+")]
    return " + ".join(sum_of) + (" - Surgery" if loss != plain else "")
