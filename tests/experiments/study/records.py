"""Recipes and records made by hand, whose numbers are known."""

from pathlib import Path

import numpy as np

from gradsurge.experiments.recipes import (
    DataPart,
    EvaluationPart,
    Recipe,
    Search,
    TablePart,
    Variant,
)
from gradsurge.experiments.study.measured import Measured
from gradsurge.experiments.study.record import Record
from gradsurge.experiments.study.shifts import STRENGTHS

SCORES = ("nll", "brier", "brier_sum", "ece", "mce", "top_ece", "top_mce")
CASES = [f"case{i:02d}" for i in range(12)]


def recipe(variants, tables, profile="paper", **search):
    """Return a recipe of variants given as names or `Variant`."""
    made = [v if isinstance(v, Variant) else variant(v) for v in variants]
    parts = {
        name: part if isinstance(part, TablePart) else TablePart(tuple(part))
        for name, part in tables.items()
    }
    kind = {"kind": "grid", "trials": 1, "keep": 1, **search}
    return Recipe(
        "made",
        "Made up",
        Path("made.toml"),
        "paper",
        DataPart("lesions-2d"),
        {"preset": "quick", "training": {"steps": 10}},
        Search(**kind),
        tuple(made),
        parts,
        EvaluationPart(profile),
    )


def variant(name, seeds=1, **more):
    loss = name.partition(".")[0]
    return Variant(name, more.pop("title", name.title()), loss, seeds=seeds, **more)


def scores(value):
    """Return all scores, told apart by their place: value, value + 0.01, ..."""
    return {name: value + 0.01 * place for place, name in enumerate(SCORES)}


def measured(value=0.1, dice=0.7, cases=CASES, dimensions=2, by_case=None, **more):
    """Return a measurement; ``value`` moves all scores, of regions and corrections apart."""
    corrections = more.pop("corrections", ("none", "bias", "temperature"))
    pooled, means = (
        {
            c: {"all": {"lesion": scores(shift + k)}, "active": {"lesion": scores(shift + k + 0.5)}}
            for k, c in enumerate(corrections)
        }
        for shift in (value + 10, value)
    )
    rows = by_case or {name: [value] * len(cases) for name in (*SCORES, "dice", "own_dice")}
    given = {
        "split": "test",
        "cases": list(cases),
        "problems": [],
        "dimensions": dimensions,
        "structures": ["lesion"],
        "headline": "lesion",
        "likelihood": "logits",
        "default_correction": "none",
        "pooled": pooled,
        "means": means,
        "dice": {"plain": {"lesion": dice}, "own": {"lesion": dice + 0.05}},
        "by_case": {"none": {"all": rows, "active": rows}},
        "lesions": {},
        "detection": {},
        "logits": {},
        "volumes": {},
        "posterior": {},
    }
    return Measured(**{**given, **more})


def record(name="dice", seed=0, value=0.1, of=None, **more):
    """Return a record of a variant."""
    return Record(
        recipe="made",
        scale="paper",
        variant=name,
        run=f"fixed_seed{seed}",
        point={"training.seed": seed},
        wanted="w",
        trained="t",
        selection={"kind": "grid", "of": of or name, "tried": []},
        validation={"dice": 0.5, "shifts": {"bias": [0.4]}, "temperature": [1.5]},
        training={"steps": 10, "best_step": 10, "seconds": 1.0},
        measured=measured(value, **more),
        provenance={"commit": "abc", "date": f"2026-01-0{seed + 1}", "command": "gradsurge x"},
    )


def block(table, words):
    """Return key -> row of the only block whose title has these words."""
    (found,) = (one for one in table.blocks if words in one.title)
    return {row.key: row for row in found.rows}


def shift_of(value):
    """Return the scores of shifts: value + strength's place."""
    numbers = (np.arange(5) + value).tolist()
    return {
        kind: {
            c: {"ece": numbers, "nll": numbers, "dice": [0.1 * n for n in numbers]}
            for c in ("none", "temperature")
        }
        for kind in STRENGTHS
    }
