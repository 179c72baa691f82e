"""``results.json``: the table and what it says, for machines."""

from typing import Any

from gradsurge.experiments.demo.findings import find, sentences
from gradsurge.experiments.demo.result import DemoResult
from gradsurge.experiments.runs import RunConfig


def to_json(result: DemoResult) -> dict[str, Any]:
    """Return plain values."""
    found = find(result.rows)
    return {
        "plan": result.plan.to_json(),
        "measured_on": result.split,
        "cases": dict(result.counts),
        "training": dict(result.training),
        "rows": [row.to_json() for row in result.rows.values()],
        "correction_of_the_run": result.correction,
        "surgery_against_dice": {
            name: None if value != value else value for name, value in vars(found).items()
        },
        "holds": found.holds,
        "says": list(sentences(result.rows, result.correction)),
        "minutes": {loss: round(minutes, 3) for loss, minutes in result.minutes.items()},
        "seconds": round(result.seconds, 1),
        "problems": result.problems,
    }


def training_facts(config: RunConfig) -> dict[str, Any]:
    """Return what is the same in every training of a demo."""
    training = config.training
    return {
        "model": config.model.name,
        "patch": list(config.model.patch),
        "batch": config.patches.batch,
        "steps": training.steps,
        "optimiser": training.optimiser,
        "learning_rate": training.learning_rate,
        "augmentation": config.augmentation,
    }
