"""The table of single cases, of records made by hand, against NumPy."""

import numpy as np
import pytest

from gradsurge.experiments.study.tables import tables_of
from gradsurge.report.tables import to_csv, to_html, to_latex, to_markdown
from tests.experiments.study.records import CASES, SCORES, block, recipe, record, variant

HEAVY = 4
COLUMNS = {"nll": "nll", "ece": "ece", "mce": "mce", "brier": "brier", "dsc": "dice"}


@pytest.fixture
def rng():
    return np.random.default_rng(7)


def made_recipe(*names, table="cases"):
    return recipe([variant(name, seeds=2) for name in names], {table: names})


def scored(rng, scale, cases=CASES, corrections=("none",)):
    """Return correction -> scores of cases; one case holds most of the NLL."""
    found = {}
    for correction in corrections:
        rows = {name: (scale * rng.uniform(0.1, 0.2, len(cases))).tolist() for name in SCORES}
        rows["nll"][HEAVY] = 5.0 * scale
        rows |= {name: rng.uniform(0.5, 0.9, len(cases)).tolist() for name in ("dice", "own_dice")}
        found[correction] = {"all": rows}
    return found


def kept(name, seed, scores, **more):
    corrections = tuple(scores)
    made = record(name, seed, corrections=corrections, **more)
    made.measured.by_case.clear()
    made.measured.by_case.update(scores)
    return made


@pytest.fixture
def study(rng):
    """Table and (variant, correction) -> column -> (runs, cases)."""
    names, both = ("ce", "dice", "dice-surgery"), ("none", "equilibrium")
    records = [
        kept(name, seed, scored(rng, scale, corrections=both if "surgery" in name else both[:1]))
        for name, scale in zip(names, (0.8, 1.2, 1.0), strict=True)
        for seed in range(2)
    ]
    values = {
        (r.variant, c): {
            column: np.array(
                [o.measured.by_case[c]["all"][score] for o in records if o.variant == r.variant]
            )
            for column, score in COLUMNS.items()
        }
        for r in records
        for c in r.measured.by_case
    }
    return tables_of(records, made_recipe(*names), "cases"), values


def test_means_with_and_without_the_heaviest_case(study):
    table, values = study
    others = [place for place in range(len(CASES)) if place != HEAVY]
    for words, places in (("means over cases", range(len(CASES))), (CASES[HEAVY], others)):
        rows = block(table, words)
        assert list(rows) == ["ce", "dice", "dice-surgery", "dice-surgery, equilibrium"]
        for (name, correction), columns in values.items():
            row = rows[name if correction == "none" else f"{name}, {correction}"]
            assert ("dsc" in row.cells) == (correction == "none")
            for column in row.cells:
                runs = columns[column][:, list(places)].mean(axis=1)
                assert row.cells[column].value == pytest.approx(runs.mean())
                assert row.cells[column].deviation == pytest.approx(runs.std(ddof=1))
    shares = [
        (m := v["nll"].mean(0))[HEAVY] / m.sum() for (_, c), v in values.items() if c == "none"
    ]
    assert f"{CASES[HEAVY]} holds more of the NLL" in table.caption
    assert f"{min(shares):.0%} to {max(shares):.0%}" in table.caption


def test_shares_of_cases_that_are_better(study):
    table, values = study
    for words, other, lines in (
        ("than the base", "dice", [("dice-surgery", "none"), ("dice-surgery", "equilibrium")]),
        ("than cross-entropy", "ce", [key for key in values if key[0] != "ce"]),
    ):
        rows = block(table, words)
        assert len(rows) == len(lines)
        for name, correction in lines:
            row = rows[name if correction == "none" else f"{name}, {correction}"]
            for column, cell in row.cells.items():
                mine = values[name, correction][column].mean(0)
                its = values[other, "none"][column].mean(0)
                better = mine > its if column == "dsc" else mine < its
                assert cell.value == pytest.approx(better.mean())


def test_a_tie_is_no_better(rng):
    same = scored(rng, 1.0)
    records = [kept(name, 0, same) for name in ("dice", "dice-surgery")]
    table = tables_of(records, made_recipe("dice", "dice-surgery"), "cases")
    cells = block(table, "than the base")["dice-surgery"].cells
    assert {cell.value for cell in cells.values()} == {0.0}


def test_runs_of_other_cases_are_compared_where_both_were_measured(rng):
    first = kept("dice", 0, scored(rng, 1.0))
    fewer = scored(rng, 1.0, CASES[:6])
    for rows in (first.measured.by_case["none"]["all"], fewer["none"]["all"]):
        rows["ece"] = [0.1] * len(rows["ece"])
    fewer["none"]["all"]["ece"][:3] = [0.05, 0.2, None]
    second = kept("dice-surgery", 0, fewer, cases=CASES[:6])
    table = tables_of([first, second], made_recipe("dice", "dice-surgery"), "cases")
    cells = block(table, "than the base")["dice-surgery"].cells
    assert cells["ece"].value == pytest.approx(1 / 5)  # of six cases one has no value


def test_one_case_and_none(rng):
    one = kept(
        "dice", 0, {"none": {"all": {name: [0.1] for name in (*SCORES, "dice")}}}, cases=CASES[:1]
    )
    table = tables_of([one], made_recipe("dice"), "cases")
    assert [b.title for b in table.blocks] == ["Made up: means over cases"]
    assert block(table, "means")["dice"].cells["nll"].value == pytest.approx(0.1)
    empty = tables_of([], made_recipe("dice", "dice-surgery"), "cases")
    assert [b.title for b in empty.blocks] == ["Made up: means over cases"]
    for text in (to_markdown(empty), to_latex(empty), to_html(empty), to_csv(empty)):
        assert text


def test_a_row_that_lost_the_heaviest_case_does_not_count_as_0(rng):
    others = [case for case in CASES if case != CASES[HEAVY]]
    light = scored(rng, 1.0, others)
    light["none"]["all"]["nll"][HEAVY] = 0.1
    records = [kept("ce", 0, scored(rng, 1.0)), kept("dice", 0, light, cases=others)]
    table = tables_of(records, made_recipe("ce", "dice"), "cases")
    nll = records[0].measured.by_case["none"]["all"]["nll"]
    share = nll[HEAVY] / sum(nll)
    assert f"{share:.0%} to {share:.0%} of that of each loss" in table.caption


def test_volumes_without_the_heaviest_case(rng):
    truth, estimate = rng.uniform(0, 30, (2, len(CASES)))
    volumes = {
        "lesion": {
            "true": truth.tolist(),
            "own": estimate.tolist(),
            "plain": estimate.tolist(),
            "expected": {"none": estimate.tolist()},
        }
    }
    made = kept("dice", 0, scored(rng, 1.0), volumes=volumes, dimensions=3)
    table = tables_of([made], made_recipe("dice", table="volume"), "volume")
    gaps = np.delete(estimate - truth, HEAVY)
    cells = block(table, f"without {CASES[HEAVY]}")["dice"].cells
    assert cells["bias"].value == pytest.approx(gaps.mean())
    assert cells["high"].value == pytest.approx(gaps.mean() + 1.96 * gaps.std(ddof=1))
    whole = table.blocks[0].rows[0].cells["bias"].value
    assert whole == pytest.approx((estimate - truth).mean())
