"""Records: what they keep, how large they are, and which of them still count."""

import json
import math

import numpy as np
import pytest

from gradsurge.calibration.scores import ece, in_bins
from gradsurge.calibration.sketch import CalibrationSketch
from gradsurge.experiments.study.coarse_sketch import BINS, read_coarse, write_coarse
from gradsurge.experiments.study.measured import plain
from gradsurge.experiments.study.record import (
    read_record,
    read_records,
    record_file,
    write_record,
)
from tests.experiments.study.records import CASES, record, shift_of


def sketches(rng, structures, corrections):
    found = {}
    for correction in corrections:
        sketch = CalibrationSketch("multilabel", structures)
        p = rng.beta(0.3, 0.6, (1, structures, 200, 200))
        sketch.update_probabilities(p, rng.random(p.shape) < p)
        found[correction] = {"all": sketch, "active": sketch}
    return found


def test_numbers_have_six_digits_and_points_all(tmp_path):
    value = 0.123456789012
    made = record(value=value, dice=math.nan)
    made.point["training.learning_rate"] = value
    made.selection["tried"].append({"point": {"training.learning_rate": value}, "dice": value})
    found = read_record(write_record(tmp_path, made))
    assert found.measured.means["none"]["all"]["lesion"]["nll"] == 0.123457
    assert found.measured.dice["plain"]["lesion"] is None
    assert found.point["training.learning_rate"] == value
    assert found.selection["tried"] == [{"point": {"training.learning_rate": value}, "dice": value}]
    assert found.provenance == made.provenance
    assert found.seed == 0
    again = read_record(write_record(tmp_path, found))
    assert again == found


def test_plain_values():
    assert plain({1: np.int64(3), "a": (np.float32(0.5), math.inf)}) == {"1": 3, "a": [0.5, None]}
    assert plain(np.array([[1e-9, 123456789.0]])) == [[1e-9, 123457000.0]]


def test_a_large_study_stays_small(tmp_path):
    """52 cases, 3 structures, 4 corrections, lesions, volumes and shifts: below 60 kB."""
    rng = np.random.default_rng(0)
    corrections = ("none", "equilibrium", "bias", "temperature")
    structures = ("kidney", "tumour", "cyst", "all structures")
    cases = [f"case_{i:05d}" for i in range(52)]
    names = ("nll", "brier", "brier_sum", "ece", "mce", "top_ece", "top_mce")

    def numbers(count=None):
        return rng.random() if count is None else rng.random(count).tolist()

    every = {
        c: {r: {s: {n: numbers() for n in names} for s in structures} for r in ("all", "active")}
        for c in corrections
    }
    rows = {n: numbers(52) for n in (*names, "dice", "own_dice")}
    volumes = {
        s: {k: numbers(52) for k in ("true", "own", "plain")}
        | {"expected": {c: numbers(52) for c in corrections}}
        for s in structures[:3]
    }
    counts = rng.integers(0, 500, 19).tolist()
    curve = {c: {"detected": counts, "false_positives": counts} for c in corrections}
    kinds = {
        kind: {c: {n: numbers(5) for n in ("nll", "brier", "ece", "mce")} for c in corrections}
        for kind in shift_of(0)
    }
    made = record(
        cases=cases,
        structures=list(structures[:3]),
        pooled=every,
        means=every,
        by_case={"none": {"all": rows, "active": rows}, "equilibrium": {"all": rows}},
        volumes=volumes,
        detection={s: {"thresholds": counts, **curve} for s in structures[:3]},
        shift=kinds,
        sketches=sketches(rng, 3, corrections),
    )
    file = write_record(tmp_path, made)
    size = file.stat().st_size + file.with_suffix(".npz").stat().st_size
    assert 20_000 < size < 60_000


def test_bins_are_those_of_the_sketch(tmp_path):
    rng = np.random.default_rng(1)
    found = sketches(rng, 2, ("none", "bias"))
    write_coarse(tmp_path / "a.npz", found, ["whole", "core"])
    bins = read_coarse(tmp_path / "a.npz")
    assert set(bins) == {
        (c, r, s) for c in ("none", "bias") for r in ("all", "active") for s in ("whole", "core")
    }
    expected = in_bins(list(found["bias"]["all"].foreground.values())[1], BINS)
    mine = bins["bias", "all", "core"]
    assert (mine.counts == expected.counts).all()
    assert (mine.positives == expected.positives).all()
    assert mine.sums == pytest.approx(expected.sums, rel=1e-6)
    gap = np.abs(mine.sums.reshape(15, 4).sum(1) - mine.positives.reshape(15, 4).sum(1)).sum()
    core = list(found["bias"]["all"].foreground.values())[1]
    assert gap / mine.counts.sum() == pytest.approx(ece(core, 15), abs=1e-7)


@pytest.mark.parametrize("content", [b"", b"PK", b"no archive", b"\x80\x04N."])
def test_damaged_bins(tmp_path, content):
    file = tmp_path / "a.npz"
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"a.npz: no bins of a record"):
        read_coarse(file)
    with pytest.raises(ValueError, match=r"b.npz: no bins of a record"):
        read_coarse(tmp_path / "b.npz")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda c: c.pop("measured"), "not a record"),
        (lambda c: c.update(version=99), "version 99, this gradsurge reads 1"),
        (lambda c: c.update(format="other"), "not a gradsurge record"),
        (lambda c: c["measured"].pop("dice"), "missing or unknown: dice"),
        (lambda c: c["measured"].update(more=1), "missing or unknown: more"),
    ],
)
def test_damaged_records(tmp_path, change, words):
    file = write_record(tmp_path, record())
    content = json.loads(file.read_text())
    change(content)
    file.write_text(json.dumps(content))
    with pytest.raises(ValueError, match=words) as caught:
        read_record(file)
    assert "delete it" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_bad_record_does_not_hide_the_others(tmp_path):
    for seed in (0, 1):
        write_record(tmp_path, record(seed=seed))
    record_file(tmp_path, "dice", "fixed_seed0").write_text("{")
    (tmp_path / "records" / "dice" / ".half.json").write_text("{")
    found, problems = read_records(tmp_path)
    assert [r.seed for r in found] == [1]
    assert len(problems) == 1
    assert "fixed_seed0.json" in problems[0]
    assert read_records(tmp_path / "nowhere") == ([], [])


def test_a_failed_write_leaves_what_was_there(tmp_path, monkeypatch):
    file = write_record(tmp_path, record(value=0.1))
    before = file.read_bytes()
    monkeypatch.setattr("gradsurge.experiments.study.measured.rounded", lambda v: v)
    with pytest.raises(ValueError, match="Out of range float"):
        write_record(tmp_path, record(value=math.nan))
    assert file.read_bytes() == before
    assert {f.name for f in file.parent.iterdir()} == {file.name, f"{file.stem}.npz"}


def test_cases_of_the_example_are_told():
    assert len(record().measured.cases) == len(CASES)
