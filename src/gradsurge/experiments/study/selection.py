"""Which points of a variant were tried, and which of them were chosen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gradsurge.experiments.recipes import Search
from gradsurge.experiments.search import SearchTrial, select


@dataclass(frozen=True)
class Tried:
    """A point that was tried, and its validation scores; None where its training failed."""

    point: Mapping[str, Any]
    dice: float | None
    nll: float | None = None

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {"point": dict(self.point), "dice": self.dice, "nll": self.nll}


@dataclass(frozen=True)
class Selection:
    """What a search came to.

    Attributes:
        tried: every point, in the order of the search; nothing where there was nothing to choose.
        best: (index, point) of those that were chosen, the best first.
    """

    tried: tuple[Tried, ...]
    best: tuple[tuple[int, Mapping[str, Any]], ...]

    @classmethod
    def among(cls, tried: Sequence[Tried], search: Search) -> "Selection | None":
        """Return the best by validation Dice: as many as the search keeps; None if all failed."""
        trials = [
            SearchTrial(
                index,
                one.point,
                "failed" if one.dice is None else "done",
                dice=one.dice,
                scores={"nll": one.nll},
            )
            for index, one in enumerate(tried)
        ]
        best = tuple((trial.index, trial.point) for trial in select(trials, search.keep))
        return cls(tuple(tried), best) if best else None

    @property
    def failed(self) -> list[int]:
        """Indices of the points whose training failed."""
        return [index for index, one in enumerate(self.tried) if one.dice is None]

    def to_json(self) -> list[dict[str, Any]]:
        """Return what was tried, which the rest follows from."""
        return [one.to_json() for one in self.tried]
