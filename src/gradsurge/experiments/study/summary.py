"""A page about a study's runs: which points were chosen, how they did, what failed."""

from collections.abc import Mapping, Sequence
from typing import Any

from gradsurge.experiments.recipes import Recipe
from gradsurge.experiments.recipes.requests import SEED
from gradsurge.experiments.runs.presets import PRESETS
from gradsurge.experiments.study.late_rise import rise_of, told_rise
from gradsurge.experiments.study.record import Record

_COLUMNS = (
    "variant",
    "run",
    "point",
    "tried",
    "validation Dice",
    "on its way",
    "last fifth",
    "best step",
    "minutes",
    "test cases",
)


def summary_of(
    recipe: Recipe, records: Sequence[Record], failures: Sequence[tuple[str, str]]
) -> str:
    """Return Markdown.

    Args:
        recipe: of the study.
        records: that its tables are made of.
        failures: (what, why) of what is not in them.
    """
    about = (
        f"Runs of the recipe `{recipe.name}`: {len(records)}. Points were chosen by the Dice of "
        f"validation cases; what was tried is in each record."
    )
    lines = [
        f"# {recipe.title}, scale {recipe.scale}",
        "",
        " ".join(filter(None, (about, _on_the_way(recipe), told_rise(records)))),
        "",
        f"| {' | '.join(_COLUMNS)} |",
        "|---|---|---|---:|---:|---:|---:|---:|---:|---:|",
        *(_line(record) for record in records),
    ]
    if failures:
        lines += ["", "## Not in the tables", ""]
        lines += [f"- {_cell(name)}: {_cell(reason)}" for name, reason in failures]
    return "\n".join(lines) + "\n"


def _on_the_way(recipe: Recipe) -> str | None:
    """Return how many cases were validated on the way, which the end does with all."""
    preset = PRESETS[recipe.run.get("preset", "quick")]
    number = recipe.run.get("validation_cases", preset.validation_cases)
    if number is None:
        return None
    return f"On its way Dice is that of {number} validation cases, if there are more."


def _tried(record: Record) -> str:
    """Return how many points were tried, and how many of them came to an end."""
    tried = record.selection.get("tried", [])
    done = sum(one["dice"] is not None for one in tried)
    return f"{done} of {len(tried)}" if done < len(tried) else str(len(tried) or "-")


def _line(record: Record) -> str:
    training, measured = record.training, record.measured
    seconds, dice = training.get("seconds"), record.validation.get("dice")
    rise = rise_of(record)
    cells = (
        record.variant,
        record.run,
        _point(record.point),
        _tried(record),
        "-" if dice is None else f"{100 * dice:.2f}",
        _way(training.get("curve", ())),
        "-" if rise is None else f"{100 * rise:+.1f}",
        f"{training.get('best_step')} of {training.get('steps')}",
        "-" if seconds is None else f"{seconds / 60:.1f}",
        str(len(measured.cases)),
    )
    return f"| {' | '.join(map(_cell, cells))} |"


def _way(curve: Sequence[Sequence[float]]) -> str:
    """Return the Dice of each validation.

    >>> _way([[100, 0.5], [200, 0.625]])
    '50.0, 62.5'
    """
    return ", ".join(f"{100 * dice:.1f}" for _, dice in curve) or "-"


def _point(point: Mapping[str, Any]) -> str:
    told = {name.partition(".")[2]: value for name, value in point.items() if name != SEED}
    seed = f"seed {point.get(SEED, 0)}"
    return ", ".join([*(f"{name} {_short(value)}" for name, value in told.items()), seed])


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _cell(text: str) -> str:
    """Return text that a Markdown table takes: one line, no bar that would end the cell."""
    return " ".join(text.split()).replace("|", "\\|")
