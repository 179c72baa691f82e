"""What a demo shows, in two sentences made of its numbers: also if it does not show what it should.

Dice surgery should have at most half the NLL of Dice and, corrected, at most half the ECE, at a
Dice score that is no more than a point lower.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from gradsurge.experiments.demo.compared import CORRECTED, ENTROPY, PLAIN, POSTERIOR, SURGERY
from gradsurge.experiments.demo.result import ScoreRow

HALF, POINT = 0.5, 1.0
_ALIKE = (0.98, 1.02)  # ratios between them are no difference


@dataclass(frozen=True)
class Findings:
    """Surgery against Dice; NaN where something is missing.

    Attributes:
        nll_ratio: NLL of surgery, uncorrected, over that of Dice.
        ece_ratio: ECE of surgery, corrected, over that of Dice.
        dsc_difference: points of DSC that surgery is above Dice.
    """

    nll_ratio: float
    ece_ratio: float
    dsc_difference: float

    @property
    def holds(self) -> dict[str, bool]:
        """What the demo is meant to show, and whether it did."""
        return {
            "NLL at most half": self.nll_ratio <= HALF,
            "ECE corrected at most half": self.ece_ratio <= HALF,
            "DSC no more than a point lower": self.dsc_difference >= -POINT,
        }


def find(rows: Mapping[str, ScoreRow]) -> Findings:
    """Compare the lines of a table."""
    plain, surgery, corrected = rows[PLAIN], rows[SURGERY], rows.get(CORRECTED)
    return Findings(
        nll_ratio=_ratio(surgery.nll, plain.nll),
        ece_ratio=math.nan if corrected is None else _ratio(corrected.ece, plain.ece),
        dsc_difference=surgery.dsc - plain.dsc,
    )


def sentences(rows: Mapping[str, ScoreRow], chosen: str = "equilibrium") -> tuple[str, str]:
    """Return two sentences: masks and NLL as trained; calibration after the correction.

    Args:
        rows: of the table.
        chosen: the correction that the surgery run itself chose on its validation cases.
    """
    found = find(rows)
    plain, surgery = rows[PLAIN], rows[SURGERY]
    masks = (
        f"{_masks(found.dsc_difference)} (DSC {surgery.dsc:.1f} with surgery, {plain.dsc:.1f} with "
        f"Dice)"
    )
    nll = f"NLL {surgery.nll:.4f} against {plain.nll:.4f}"
    return f"{masks}, and {_nll(found.nll_ratio)}: {nll}.", _second(rows, found, chosen)


def _masks(difference: float) -> str:
    if math.isnan(difference):
        return "The masks cannot be compared"
    if abs(difference) <= POINT:
        return "The masks are equally good"
    return f"Surgery's masks are {'better' if difference > 0 else 'worse'}"


def _nll(ratio: float) -> str:
    if math.isnan(ratio):
        return "the probabilities cannot be compared by NLL"
    if ratio <= HALF:
        return f"surgery's probabilities are far better by NLL, at {percent(ratio)} of Dice's"
    if ratio < _ALIKE[0]:
        return (
            f"surgery's probabilities are better by NLL, yet at {percent(ratio)} of Dice's, not at "
            f"half"
        )
    words = "about the same as" if ratio <= _ALIKE[1] else "worse than"
    return f"surgery's probabilities are {words} Dice's by NLL"


def _second(rows: Mapping[str, ScoreRow], found: Findings, chosen: str) -> str:
    plain, corrected = rows[PLAIN], rows.get(CORRECTED)
    if corrected is None:
        return (
            "There is no closed-form correction: the training measured no shift that can be taken "
            "away; gradsurge show on runs/dice-surgery tells more."
        )
    doubt = " (its validation cases did not ask for it)" if chosen == "none" else ""
    start = f"With the closed-form correction, which is fitted on nothing{doubt},"
    ece = f"ECE {corrected.ece:.5f} against {plain.ece:.5f}"
    return f"{start} {_ece(found.ece_ratio)}: {ece}{_floor(rows)}{_entropy(rows)}."


def _ece(ratio: float) -> str:
    if math.isnan(ratio):
        return "its calibration error cannot be compared with Dice's"
    if ratio < _ALIKE[0]:
        half = "" if ratio <= HALF else ", not half of it"
        return f"its calibration error is {percent(ratio)} of Dice's{half}"
    words = "about the same as" if ratio <= _ALIKE[1] else "above"
    return f"its calibration error is {words} Dice's"


def percent(ratio: float) -> str:
    """Return a ratio with as many decimals as it takes to tell it from one half.

    >>> percent(0.41), percent(0.496), percent(0.5), percent(0.5004)
    ('41%', '49.6%', '50.0%', '50.04%')
    """
    first = 1 if abs(ratio - HALF) < 0.01 else 0
    for decimals in range(first, 6):
        text = f"{ratio:.{decimals}%}"
        if (float(text[:-1]) / 100 <= HALF) == (ratio <= HALF):
            break
    return text


def _entropy(rows: Mapping[str, ScoreRow]) -> str:
    plain = rows.get(ENTROPY)
    if plain is None:
        return ""
    return f"; cross-entropy, with DSC {plain.dsc:.1f}, has ECE {plain.ece:.5f} as trained"


def _floor(rows: Mapping[str, ScoreRow]) -> str:
    truth, plain, corrected = rows.get(POSTERIOR), rows[PLAIN], rows.get(CORRECTED)
    if truth is None or corrected is None or corrected.rms is None or plain.rms is None:
        return ""
    return (
        f" (the true posterior itself: {truth.ece:.5f}), and its probabilities are "
        f"{corrected.rms:.4f} from the true posterior, Dice's {plain.rms:.4f} (root mean square)"
    )


def _ratio(above: float, below: float) -> float:
    return above / below if below else math.nan
