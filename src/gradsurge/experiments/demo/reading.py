"""How the table of a demo is to be read: what the letters stand for, and what they do not tell.

In plain ASCII: terminals show it too.
"""

from gradsurge.experiments.demo.result import DemoResult

ONE_BIN = (
    "MCE is the error of one bin, often of few voxels. The labels of neighbouring voxels come "
    "together, not one by one, so that even true probabilities leave the diagonal a little."
)
_OPTIMISTIC = (
    "There is no test set: these validation cases also chose the weights and the thresholds, so "
    "the scores, DSC above all, are optimistic."
)


def abbreviations(result: DemoResult) -> str:
    """Spell the headings of the table out."""
    bins = result.evaluation.settings.bins
    return (
        f"NLL: negative log-likelihood. ECE, MCE: expected and maximum calibration error, in "
        f"{bins} bins of probability. Brier: mean squared error of the probabilities. DSC: Dice "
        f"similarity coefficient of the masks."
    )


def caveats(result: DemoResult) -> list[str]:
    """Return what a reader of the table must know."""
    return [_OPTIMISTIC, ONE_BIN] if result.split == "validation" else [ONE_BIN]
