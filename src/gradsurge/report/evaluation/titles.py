"""What scores and regions are called on the page."""

from gradsurge.experiments.evaluation.settings import Region, Settings

TITLES = {
    "nll": "NLL",
    "brier": "Brier",
    "brier_sum": "Brier, summed",
    "ece": "ECE",
    "ace": "ACE",
    "mce": "MCE",
    "equal_mass_ece": "Equal-mass ECE",
    "class_wise_ece": "Class-wise ECE",
    "top_ece": "Top-label ECE",
    "top_mce": "Top-label MCE",
    "sharpness": "Sharpness",
    "auroc": "AUROC",
    "average_precision": "Average precision",
    "dice": "Dice",
    "nsd": "NSD",
    "hd95": "HD95, mm",
}
HIGHER_IS_BETTER = frozenset({"auroc", "average_precision", "dice", "nsd"})
NEITHER_IS_BETTER = frozenset({"sharpness"})


def score_title(name: str) -> str:
    """Return the short title of a score; its own name if it has none."""
    return TITLES.get(name, name)


def better(name: str) -> str:
    """Return which way is better: "lower", "higher", or nothing.

    >>> better("ece"), better("dice"), better("sharpness")
    ('lower', 'higher', '')
    """
    if name in NEITHER_IS_BETTER:
        return ""
    return "higher" if name in HIGHER_IS_BETTER else "lower"


def region_title(region: Region, settings: Settings) -> str:
    """Return what a region is.

    >>> region_title("band", Settings(band_mm=2.5))
    "band of 2.5 mm round the label's boundary"
    """
    return {
        "all": "all voxels",
        "active": "active region",
        "mask": "mask files",
        "band": f"band of {settings.band_mm:g} mm round the label's boundary",
    }[region]
