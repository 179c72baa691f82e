"""What a demo compares: three losses, one of them with and without its correction."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Compared:
    """A line of the demo's table.

    Attributes:
        name: for readers.
        folder: of its predictions.
        loss: it was trained with; also the folder of the run.
        correction: of its probabilities.
    """

    name: str
    folder: str
    loss: str
    correction: str = "none"


COMPARED = (
    Compared("cross-entropy", "ce", "ce"),
    Compared("Dice", "dice", "dice"),
    Compared("Dice surgery", "dice-surgery", "dice-surgery"),
    Compared(
        "Dice surgery corrected", "dice-surgery-corrected", "dice-surgery", correction="equilibrium"
    ),
)
ENTROPY, PLAIN, SURGERY, CORRECTED = (row.name for row in COMPARED)
LOSSES = tuple(dict.fromkeys(row.loss for row in COMPARED))
TITLES = {row.loss: row.name for row in reversed(COMPARED)}

POSTERIOR = "true posterior"
"""Name of the line of the phantoms' own posterior, and of the folder of its maps."""
