"""The choice between logits and probabilities: said once, never guessed from the values."""

from collections.abc import Sequence
from typing import Literal

import torch
from torch import Tensor

from gradsurge.calibration import CalibrationSketch, scores

Input = Literal["logits", "probabilities"]
USUAL_SCORES = ("nll", "ece", "brier", "dice")
HIGHER_IS_BETTER = ("auroc", "average_precision", "dice")


def check_input(given: str) -> None:
    """Refuse anything but the two kinds of input there are."""
    if given not in ("logits", "probabilities"):
        raise ValueError(f"input: expected 'logits' or 'probabilities', got {given!r}")


def check_scores(chosen: Sequence[str], sketch: CalibrationSketch, bins: int) -> tuple[str, ...]:
    """Return names of scores, refusing those that `score_tensors` does not give."""
    known = score_tensors(sketch, bins, torch.device("cpu"))
    names = (chosen,) if isinstance(chosen, str) else tuple(chosen)
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        raise ValueError(
            f"scores: expected some of {', '.join(known)}, got {', '.join(unknown) or 'none'}"
        )
    return names


def updated(
    sketch: CalibrationSketch, given: str, scores: Tensor, labels: Tensor, mask: Tensor | None
) -> CalibrationSketch:
    """Count a batch of logits or of probabilities."""
    if given == "logits":
        return sketch.update_logits(scores, labels, mask)
    return sketch.update_probabilities(scores, labels, mask)


def score_tensors(sketch: CalibrationSketch, bins: int, device: torch.device) -> dict[str, Tensor]:
    """Return the usual scores by name, as float64 scalars; NaN where a score is not defined."""
    found = {
        "nll": sketch.nll(),
        "brier": sketch.brier(),
        "ece": sketch.ece(bins),
        "ace": sketch.ace(bins),
        "mce": sketch.mce(bins),
        "equal_mass_ece": sketch.equal_mass_ece(bins),
        "auroc": sketch.auroc(),
        "average_precision": sketch.average_precision(),
        "dice": sketch.dice_at(0.5),
    }
    if sketch.kind != "multilabel":
        found["top_label_ece"] = scores.ece(sketch.top_label, bins)
    return {k: torch.tensor(float(v), dtype=torch.float64).to(device) for k, v in found.items()}
