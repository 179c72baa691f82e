"""Print the tables of expectations of docs/results/index.md, from the records alone.

python docs/_site/expectations_overview.py
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from gradsurge.experiments.recipes import read_recipe
from gradsurge.experiments.study import tables_from_records
from gradsurge.experiments.study.expectations import Expectation, expectations_of
from gradsurge.experiments.study.record import RECORDS

RESULTS = Path(__file__).parents[1] / "results"
QUESTIONS = {
    ("", "base"): "surgery against the same loss without",
    ("", "temperature"): "surgery against the same with a temperature",
    ("equilibrium", "temperature"): "surgery corrected against that with a temperature",
    ("temperature", "temperature"): "both with a temperature",
    ("equilibrium", "ce"): "surgery corrected against cross-entropy",
}
SCORES = ("NLL", "ECE", "MCE", "Brier", "DSC")


Studies = Mapping[str, Sequence[Expectation]]


def studies(results: Path = RESULTS) -> Studies:
    """Return what was expected of each study, by its title."""
    return dict(_expectations(folder.parent) for folder in sorted(results.glob(f"*/{RECORDS}")))


def by_score(checked: Studies) -> str:
    """Return a Markdown table: each question, and in how many studies and losses it holds."""
    found = [(one, one.column.title) for study in checked.values() for one in study]
    return _table(found, SCORES)


def by_study(checked: Studies) -> str:
    """Return a Markdown table: each question, and how many of its scores are as expected."""
    found = [(one, title) for title, study in checked.items() for one in study]
    return _table(found, tuple(checked))


def _expectations(folder: Path) -> tuple[str, Sequence[Expectation]]:
    recipe = read_recipe(folder.name)
    found = tables_from_records(recipe, recipe, folder)
    if found.failures:
        raise ValueError(found.failures[0])
    return recipe.title, expectations_of(found.records, recipe)


def _question(one: Expectation) -> tuple[str, str]:
    _, _, ours = one.of.partition(", ")
    variant, _, theirs = one.against.partition(", ")
    return ours, "ce" if variant.partition(".")[0] == "ce" else theirs or "base"


def _table(found: Sequence[tuple[Expectation, str]], columns: Sequence[str]) -> str:
    held = defaultdict[tuple[tuple[str, str], str], list[bool]](list)
    for one, column in found:
        held[_question(one), column].append(one.holds)
    lines = [("as expected", *columns), ("---", *["---:"] * len(columns))]
    for question, name in QUESTIONS.items():
        cells = (held.get((question, column), []) for column in columns)
        lines.append((name, *(f"{sum(c)} of {len(c)}" if c else "" for c in cells)))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


if __name__ == "__main__":
    found = studies()
    print(by_score(found), by_study(found), sep="\n", end="")
