"""Which numbers of a record a profile's columns show."""

from collections.abc import Sequence

from gradsurge.experiments.evaluation.settings import Profile
from gradsurge.experiments.result_table import Column
from gradsurge.experiments.study.record import Record
from gradsurge.experiments.study.tables.table_rows import Number

DSC, OWN_DSC = "dsc", "own_dsc"
CALIBRATION = (
    Column("nll", "NLL", "lower", 4),
    Column("ece", "ECE", "lower", 4),
    Column("mce", "MCE", "lower", 4),
    Column("brier", "Brier", "lower", 4),
)
DICE = (
    Column(DSC, "DSC", "higher", 2, "%"),
    Column(OWN_DSC, "DSC of masks", "higher", 2, "%"),
)
_DICE_OF = {DSC: ("plain", "dice"), OWN_DSC: ("own", "own_dice")}
_TOP_LABEL = {"ece": "top_ece", "mce": "top_mce"}

ABOUT: dict[Profile, str] = {
    "paper": "Scores of each case, averaged over cases: confidence in the likeliest class in 15 "
    "bins; Brier score of the foreground, in 3D summed over the classes.",
    "foreground": "Scores of the foreground's probability, all voxels of all cases pooled, 15 "
    "bins.",
}
ABOUT_DICE = (
    "DSC: of p > 1/2, or of the likeliest class, raw; DSC of masks: at the thresholds that each "
    "run found on validation cases; both averaged over cases."
)


def score_name(record: Record, column: str, profile: Profile) -> str:
    """Return the score that a column shows."""
    if profile == "foreground":
        return column
    if column == "brier" and record.measured.dimensions == 3:
        return "brier_sum"
    return _TOP_LABEL.get(column, column)


def score(
    record: Record,
    column: str,
    profile: Profile,
    *,
    correction: str = "none",
    region: str = "all",
) -> Number:
    """Return the number of a column; Dice is a share, not per cent."""
    measured = record.measured
    if column in _DICE_OF:
        return measured.dice[_DICE_OF[column][0]].get(measured.headline)
    scores = measured.means if profile == "paper" else measured.pooled
    by_structure = scores.get(correction, {}).get(region, {})
    return by_structure.get(measured.headline, {}).get(score_name(record, column, profile))


def by_case(
    record: Record,
    column: str,
    profile: Profile,
    *,
    correction: str = "none",
    region: str = "all",
) -> Sequence[Number] | None:
    """Return the numbers of the cases behind a column; None where a record does not keep them."""
    if column in _DICE_OF:
        return record.measured.by_case["none"]["all"].get(_DICE_OF[column][1])
    kept = record.measured.by_case.get(correction, {}).get(region, {})
    return kept.get(score_name(record, column, profile))
