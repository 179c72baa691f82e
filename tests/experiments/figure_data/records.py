"""Records with numbers made up by a rule, so that what figures show can be told beforehand."""

from dataclasses import replace

import torch

from gradsurge.calibration.sketch import CalibrationSketch
from gradsurge.experiments.study.lesion_tally import THRESHOLDS
from gradsurge.experiments.study.measured import Measured
from gradsurge.experiments.study.record import Record, write_record
from gradsurge.experiments.study.shifts import STRENGTHS

CASES = ("a", "b", "c", "d")
TRUE = (1.0, 4.0, 20.0, 100.0)
FACTORS = {"none": 1.0, "equilibrium": 0.5, "temperature": 0.6, "bias": 0.55}
SCORES = ("nll", "ece", "mce", "brier", "top_ece", "top_mce", "brier_sum")


def measured(level, dice=0.8, structures=("lesion",), **parts):
    """Scores are ``level`` times the correction's factor; a shift of step k multiplies by 1 + k."""
    corrections = parts.pop("corrections", tuple(FACTORS))
    headline = structures[0] if len(structures) == 1 else "all"
    scores = {c: dict.fromkeys(SCORES, level * FACTORS[c]) for c in corrections}
    by_region = {c: {"all": {headline: scores[c]}} for c in corrections}
    shift = {
        kind: {
            c: {
                **{s: [level * FACTORS[c] * (1 + k) for k in range(1, 6)] for s in ("nll", "ece")},
                **({"dice": [dice - 0.05 * k for k in range(1, 6)]} if c == "none" else {}),
            }
            for c in corrections
        }
        for kind in STRENGTHS
    }
    expected = {c: [t * (1 + FACTORS[c] * level) for t in TRUE] for c in corrections}
    steps = len(THRESHOLDS)
    detection = {
        "lesions": 2 * steps,
        "cases": 4,
        "thresholds": list(THRESHOLDS),
        **{
            c: {
                "detected": [2 * steps - k for k in range(steps)],
                "false_positives": [2 * (steps - k) for k in range(steps)],
            }
            for c in corrections
        },
    }
    facts = {
        "split": "test",
        "cases": list(CASES),
        "problems": [],
        "dimensions": 3,
        "structures": list(structures),
        "headline": headline,
        "likelihood": "logits",
        "default_correction": "none",
        "pooled": by_region,
        "means": by_region,
        "dice": {"plain": {headline: dice}, "own": {headline: dice + 0.01}},
        "by_case": {"none": {"all": {}}},
        "lesions": {},
        "detection": dict.fromkeys(structures, detection),
        "logits": {},
        "volumes": {
            name: {"true": list(TRUE), "own": list(TRUE), "plain": list(TRUE), "expected": expected}
            for name in structures
        },
        "posterior": {},
        "shift": shift,
    }
    return Measured(**{**facts, **parts})


def record(variant, level, seed=0, **parts):
    """A record of a variant: see `measured`."""
    if not variant.split(".")[0].endswith("-surgery"):
        parts.setdefault("corrections", ("none", "bias", "temperature"))
    about = {name: parts.pop(name) for name in ("recipe", "scale") if name in parts}
    return Record(
        recipe=about.get("recipe", "isles"),
        scale=about.get("scale", "paper"),
        variant=variant,
        run=f"lr0.003_seed{seed}",
        point={"training.learning_rate": 0.003, "training.seed": seed},
        wanted="w",
        trained="t",
        selection={"of": variant, "tried": []},
        validation={},
        training={},
        measured=measured(level, **parts),
        provenance={},
    )


def whole_study(**parts):
    """Cross-entropy, Dice and its surgery with two seeds, and four exponents."""
    levels = {"ce": 0.02, "dice": 0.1, "dice-surgery": 0.04}
    found = [
        record(name, level * (1 + 0.2 * seed), seed, **dict(parts))
        for name, level in levels.items()
        for seed in (0, 1)
    ]
    exponents = {1: 0.05, 5: 0.045, 20: 0.04, 100: 0.042}
    return found + [
        record(f"dice-surgery.n{n}", level, **dict(parts)) for n, level in exponents.items()
    ]


def sketch_of(structures=1, positives=3):
    """A sketch of 10 voxels a structure at p = 0.9, of which ``positives`` are in it."""
    sketch = CalibrationSketch("multilabel", structures)
    label = torch.zeros(1, structures, 10, dtype=torch.int64)
    label[..., :positives] = 1
    sketch.update_probabilities(torch.full(label.shape, 0.9), label)
    return sketch


def with_bins(folder, records, **about):
    """Write the records with the same sketch for all corrections; return them."""
    for one in records:
        sketch = sketch_of(len(one.measured.structures), **about)
        found = {name: {"all": sketch} for name in one.measured.pooled}
        write_record(folder, replace(one, measured=replace(one.measured, sketches=found)))
    return tuple(records)
