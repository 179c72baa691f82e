"""Print the README's table of results, from the records in docs/results alone.

    python docs/_site/results_overview.py
"""

from collections.abc import Iterator
from pathlib import Path
from statistics import fmean

from gradsurge.experiments.figure_data.study import StudyRecords, read_studies
from gradsurge.experiments.recipes import read_recipe
from gradsurge.experiments.study.record import RECORDS
from gradsurge.experiments.study.tables.profile_scores import score

RESULTS = Path(__file__).parents[1] / "results"
BASES = {"dice": "Dice", "tversky": "Tversky", "ce+dice": "CE + Dice"}
_HEADS = ("", "loss", "NLL", "ECE", "MCE", "Brier", "DSC")
_DIGITS = {"nll": 4, "ece": 4, "mce": 3, "brier": 4}


def overview(results: Path = RESULTS) -> str:
    """Return a Markdown table: each loss without and with surgery, and the ratio of the two."""
    lines = [_HEADS, ("---", "---", *["---:"] * (len(_HEADS) - 2))]
    for folder in sorted(path.parent for path in results.glob(f"*/{RECORDS}")):
        (study,), problems = read_studies(folder)
        if problems:
            raise ValueError(problems[0])
        lines += _rows(study)
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _rows(study: StudyRecords) -> Iterator[tuple[str, ...]]:
    title = read_recipe(study.recipe, study.scale).title
    for base, name in BASES.items():
        surgery = f"{base}-surgery"
        if study.of(base) and study.of(surgery):
            scores = (_change(study, base, surgery, column) for column in _DIGITS)
            dice = [100 * _mean(study, variant, "dsc") for variant in (base, surgery)]
            yield title, name, *scores, f"{dice[0]:.1f} → {dice[1]:.1f}"
            title = ""


def _change(study: StudyRecords, base: str, surgery: str, column: str) -> str:
    before, after = (_mean(study, variant, column) for variant in (base, surgery))
    digits = _DIGITS[column]
    return f"{before:.{digits}f} → {after:.{digits}f} (×{after / before:.2f})"


def _mean(study: StudyRecords, variant: str, column: str) -> float:
    found = (score(record, column, "foreground") for record in study.of(variant))
    return fmean(value for value in found if value is not None)


if __name__ == "__main__":
    print(overview(), end="")
