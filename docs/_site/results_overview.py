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
_SCORES = ("nll", "ece")
_WAYS = (("", "none"), ("-surgery", "none"), ("-surgery", "equilibrium"))
_HEADS = (
    "",
    "loss",
    *(f"{score.upper()} {way}" for score in _SCORES for way in ("before", "surgery", "corrected")),
    "DSC",
)


def overview(results: Path = RESULTS) -> str:
    """Return a Markdown table: each loss as it is, with surgery, and corrected."""
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
            scores = (cell for column in _SCORES for cell in _cells(study, base, column))
            before, after = (100 * _mean(study, variant, "dsc") for variant in (base, surgery))
            yield title, name, *scores, f"{before:.1f} → {after:.1f}"
            title = ""


def _cells(study: StudyRecords, base: str, column: str) -> Iterator[str]:
    """Yield a score of the loss as it is, with surgery and corrected, with ratios to the first."""
    values = [_mean(study, f"{base}{end}", column, correction) for end, correction in _WAYS]
    yield f"{values[0]:.4f}"
    for value in values[1:]:
        yield f"{value:.4f} (×{value / values[0]:.2f})"


def _mean(study: StudyRecords, variant: str, column: str, correction: str = "none") -> float:
    records = study.of(variant)
    found = (score(record, column, "foreground", correction=correction) for record in records)
    return fmean(value for value in found if value is not None)


if __name__ == "__main__":
    print(overview(), end="")
