"""What the lines of a study are called, and how they look in every figure."""

from gradsurge.experiments.figure_data.study import LineName
from gradsurge.experiments.figure_data.study.lines import Role
from gradsurge.report.figures.loss_titles import loss_title
from gradsurge.report.figures.model_looks import ModelLook
from gradsurge.report.style import BACKGROUND, FOREGROUND, INK, OTHER, OURS

LOOKS: dict[Role, ModelLook] = {
    "reference": ModelLook("", INK, "o", (1.5, 1.5)),
    "base": ModelLook("", BACKGROUND, "s", ()),
    "scaled": ModelLook("", OTHER, "v", (6, 2, 1.5, 2)),
    "surgery": ModelLook("", FOREGROUND, "^", (5, 2)),
    "corrected": ModelLook("", OURS, "D", ()),
}
LEGEND_COLUMNS = 3  # of the five ways: "CE + Dice surgery, corrected" and its kin are long
SCORE_TITLES = {
    "nll": "NLL",
    "ece": "ECE",
    "mce": "MCE",
    "brier": "Brier",
    "dice": "Dice",
    "dsc": "DSC",
}
_AFTER = {"none": "", "temperature": " + temperature", "equilibrium": ", corrected"}


def line_title(name: LineName) -> str:
    """Return what legends call a line.

    >>> line_title(LineName("corrected", "dice-surgery", "equilibrium"))
    'Dice surgery, corrected'
    """
    return loss_title(name.variant) + _AFTER.get(name.correction, f", {name.correction}")
