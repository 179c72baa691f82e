"""The table of a demo, column by column, and what is said about how it was made."""

from dataclasses import dataclass

from gradsurge.experiments.demo.result import DemoResult
from gradsurge.report.evaluation import numbers

_COLUMNS = {
    "nll": ("NLL", "lower"),
    "ece": ("ECE", "lower"),
    "mce": ("MCE", "lower"),
    "brier": ("Brier", "lower"),
    "dsc": ("DSC %", "higher"),
    "rms": ("RMS (p − q)", "lower"),
    "distance": ("mean |p − q|", "lower"),
}


@dataclass(frozen=True)
class Column:
    """A heading, which way is better, and a text for each line."""

    title: str
    better: str
    cells: dict[str, str]


def columns(result: DemoResult) -> list[Column]:
    """Return the columns that there are numbers for."""
    found = []
    for name, (title, better) in _COLUMNS.items():
        values = {row.name: getattr(row, name) for row in result.rows.values()}
        if all(value is None for value in values.values()):
            continue
        cells = {
            model: f"{value:.1f}" if name == "dsc" else numbers.score(value)
            for model, value in values.items()
        }
        found.append(Column(title, better, cells))
    return found


def facts(result: DemoResult) -> list[tuple[str, str]]:
    """Return terms and what they were in this demo."""
    training, plan = result.training, result.plan
    patch = " x ".join(map(str, training["patch"]))
    counts = ", ".join(f"{number} {split}" for split, number in result.counts.items())
    return [
        (
            "Data",
            f"{plan.phantom}, seed {plan.seed}"
            if plan.phantom
            else f"{plan.raw}, seed {plan.seed}",
        ),
        ("Cases", counts),
        ("Measured on", _measured_on(result.split)),
        ("Every training", f"{training['steps']} steps of {training['batch']} patches of {patch}"),
        ("Network", f"{training['model']}, augmentation {training['augmentation']}"),
        ("Optimiser", f"{training['optimiser']}, learning rate {training['learning_rate']:g}"),
        ("The surgery run's own choice of correction", result.correction),
    ]


def _measured_on(split: str) -> str:
    if split == "validation":
        return "the validation cases, which no training step saw, but which chose the weights"
    return f"the {split} cases, which no training step saw"
