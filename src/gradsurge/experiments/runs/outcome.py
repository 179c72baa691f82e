"""What a finished run knows of itself: scores on validation cases, correction, thresholds."""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from gradsurge.data.case_error import shown
from gradsurge.data.store import replace_json

FORMAT, VERSION = "gradsurge run outcome", 1


@dataclass(frozen=True)
class Scores:
    """Scores of the validation cases after one correction; None where undefined.

    Attributes:
        nll, ece, mce, brier: of all voxels together, means over classes; 15 bins.
        dice: mean over cases and classes, of p > 1/2 or the likeliest class.
        class_dice: the same by class or region.
        thresholds: Dice-optimal on these probabilities, one a foreground class or region.
        best_dice: Dice of all voxels together at these thresholds, mean over classes.
    """

    nll: float | None
    ece: float | None
    mce: float | None
    brier: float | None
    dice: float | None
    class_dice: Mapping[str, float | None]
    thresholds: tuple[float, ...]
    best_dice: float | None


@dataclass(frozen=True)
class Outcome:
    """The outcome of a run, as it stands in outcome.json.

    Attributes:
        step: of the best weights.
        steps: of the training.
        cases: number of validation cases.
        scores: "none" (the model as it is) and each correction -> its scores.
        correction: the one to use: "equilibrium" where it lowered the NLL, else "none".
        threshold_dice: Dice as in `Scores.dice`, of the raw probabilities at their thresholds.
        mask_thresholds: what masks are made with: these thresholds where they raised the Dice of
            the cases, else 1/2; None for the likeliest of several classes.
        theory_thresholds: the same by theory, from the measured shift (`raw_threshold`), one a
            foreground class or region; None for a loss without surgery, and for several exclusive
            classes.
        notes: what a user must know.
    """

    step: int
    steps: int
    cases: int
    scores: Mapping[str, Scores]
    correction: str
    threshold_dice: float | None
    mask_thresholds: tuple[float, ...] | None
    theory_thresholds: tuple[float, ...] | None
    notes: tuple[str, ...] = ()

    @property
    def mask_dice(self) -> float | None:
        """Dice of the masks that the run makes: mean over cases and classes."""
        known = [d for d in (self.scores["none"].dice, self.threshold_dice) if d is not None]
        return max(known, default=None)

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {"format": FORMAT, "version": VERSION, **asdict(self)}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """Return what `to_json` was made of."""
        if stored.get("format") != FORMAT or stored.get("version") != VERSION:
            raise ValueError(f"expected {FORMAT!r} of version {VERSION}")
        fields = {k: v for k, v in stored.items() if k not in ("format", "version")}
        scores = {
            name: Scores(**{**row, "thresholds": tuple(row["thresholds"])})
            for name, row in fields["scores"].items()
        }
        limits = {
            name: None if fields[name] is None else tuple(fields[name])
            for name in ("mask_thresholds", "theory_thresholds")
        }
        return cls(
            **{
                **fields,
                **limits,
                "scores": scores,
                "notes": tuple(fields["notes"]),
            }
        )


def number(value: float) -> float | None:
    """Return a number for JSON: None for what is undefined."""
    return None if math.isnan(value) else float(value)


def write_outcome(file: Path, outcome: Outcome) -> None:
    """Write it; a reader never sees half of it."""
    replace_json(file, outcome.to_json())


def read_outcome(file: Path) -> Outcome:
    """Read what `write_outcome` wrote.

    Raises:
        FileNotFoundError: there is none.
        ValueError: it is something else, or damaged.
    """
    try:
        return Outcome.from_json(json.loads(file.read_text(encoding="utf-8")))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"{shown(file)}: not the outcome of a run ({reason})") from error
