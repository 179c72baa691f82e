"""Tables of hand-made records against NumPy and SciPy."""

import csv
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from gradsurge.experiments.published import published_table
from gradsurge.experiments.recipes import TablePart, Variant
from gradsurge.experiments.study.tables import TABLES, tables_of
from gradsurge.experiments.study.tables.significance import RunValues, paired_test
from gradsurge.experiments.study.tables.volume import agreement
from gradsurge.report.tables import to_csv, to_html, to_latex, to_markdown
from tests.experiments.study.records import CASES, recipe, record, shift_of, variant

PAIR = ("dice", "dice-surgery")


def rows(table, block=0):
    return {row.key: row for row in table.blocks[block].rows}


def test_mean_and_deviation_over_runs():
    values = [0.11, 0.13, 0.18]
    made = recipe([variant("dice", seeds=3)], {"1": ["dice"]})
    records = [record("dice", seed, value=v, dice=0.6 + v) for seed, v in enumerate(values)]
    cells = rows(tables_of(records, made, "1"))["dice"].cells
    # The paper's profile: top-label scores, means over cases; Brier of the foreground in 2D.
    for column, offset in (("nll", 0.0), ("brier", 0.01), ("ece", 0.05), ("mce", 0.06)):
        expected = np.array(values) + offset
        assert cells[column].value == pytest.approx(expected.mean())
        assert cells[column].deviation == pytest.approx(expected.std(ddof=1))
    assert cells["dsc"].value == pytest.approx(100 * (0.6 + np.mean(values)))
    assert cells["own_dsc"].value == pytest.approx(100 * (0.65 + np.mean(values)))


def test_the_foreground_profile_is_pooled():
    made = recipe(["dice"], {"1": ["dice"]}, profile="foreground")
    cells = rows(tables_of([record(value=0.1)], made, "1"))["dice"].cells
    assert cells["ece"].value == pytest.approx(10.1 + 0.03)
    assert cells["ece"].deviation is None


def test_brier_is_summed_over_classes_in_3d():
    made = recipe(["dice"], {"2": ["dice"]})
    cells = rows(tables_of([record(value=0.1, dimensions=3)], made, "2"))["dice"].cells
    assert cells["brier"].value == pytest.approx(0.1 + 0.02)


def test_the_bias_that_is_left_after_the_closed_form():
    told = {"shifts": {"equilibrium": [0.3, 0.5], "bias": [1.0, 1.4]}, "temperature": [0.7]}
    plain = {"shifts": {"bias": [0.6]}, "temperature": [1.8, 2.0]}
    made = recipe([*PAIR, "ce"], {"bias": [*PAIR, "ce"]})
    records = [record("dice-surgery"), record("dice"), record("ce")]
    validations = [told, plain, {"dice": 0.5}]  # records of before tell nothing
    records = [replace(r, validation=v) for r, v in zip(records, validations, strict=True)]
    found = {
        key: {name: cell.value for name, cell in row.cells.items()}
        for key, row in rows(tables_of(records, made, "bias")).items()
    }
    expected = {"bias": 1.2, "equilibrium": 0.4, "rest": 0.8, "temperature": 0.7}
    assert found["dice-surgery"] == pytest.approx(expected)
    assert found["dice"] == {"bias": 0.6, "equilibrium": None, "rest": 0.6, "temperature": 1.9}
    assert set(found["ce"].values()) == {None}


def test_a_surgery_is_compared_with_the_only_row_of_its_loss():
    names = ["dice.short", "dice-surgery.from60"]
    made = recipe(names, {"schedule": names})
    table = tables_of([record(name) for name in names], made, "schedule")
    assert rows(table)["dice-surgery.from60"].base == "dice.short"
    several = ["dice.short", "dice.long", "dice-surgery.from60"]
    made = recipe(several, {"schedule": several})
    table = tables_of([record(name) for name in several], made, "schedule")
    assert rows(table)["dice-surgery.from60"].base is None


def test_the_active_region():
    made = recipe(["dice"], {"4": ["dice"]})
    table = tables_of([record(value=0.1)], made, "4")
    assert rows(table)["dice"].cells["nll"].value == pytest.approx(0.6)
    assert "Active region" in table.caption


def by_case(values):
    return {
        name: list(values)
        for name in (*("nll", "brier", "top_ece", "top_mce", "ece", "mce"), "dice", "own_dice")
    }


def test_stars_are_scipys(rng):
    base = rng.uniform(0.2, 0.3, (2, 12))
    better = base - rng.uniform(-0.01, 0.06, (2, 12))
    made = recipe([variant(name, seeds=2) for name in PAIR], {"1": PAIR})
    records = [record("dice", s, by_case=by_case(base[s])) for s in (0, 1)]
    after = [record("dice-surgery", s, 0.05, by_case=by_case(better[s])) for s in (0, 1)]
    table = tables_of([*records, *after], made, "1")
    p = stats.wilcoxon(better.mean(0) - base.mean(0)).pvalue
    assert p < 0.01
    cells = rows(table)["dice-surgery"].cells
    assert cells["nll"].star
    assert not cells["dsc"].star  # lower is worse there
    assert not any(cell.star for cell in rows(table)["dice"].cells.values())
    assert rows(table)["dice-surgery"].base == "dice"
    assert "Wilcoxon's signed-rank test over 12 cases" in table.caption
    worse = [record("dice-surgery", s, 0.15, by_case=by_case(better[s])) for s in (0, 1)]
    cells = rows(tables_of([*records, *worse], made, "1"))["dice-surgery"].cells
    assert not cells["nll"].star  # what is shown is worse


def test_stars_of_pooled_scores_name_what_was_tested(rng):
    base = rng.uniform(0.2, 0.3, 12)
    made = recipe(PAIR, {"1": PAIR}, profile="foreground")
    records = [
        record("dice", by_case=by_case(base)),
        record("dice-surgery", value=0.05, by_case=by_case(base - 0.1)),
    ]
    table = tables_of(records, made, "1")
    assert rows(table)["dice-surgery"].cells["ece"].star
    assert "test of the scores of single cases, not pooled ones, over 12 cases" in table.caption


def test_captions_tell_of_the_corrections_that_are_shown():
    names = ("corrections", "budget", "schedule")
    made = recipe(["dice"], {name: ["dice"] for name in names})
    found = [tables_of([record("dice")], made, name).caption for name in names]
    told = ["Bias and temperature: fitted on", "Temperature: fitted on", None]
    for caption, words in zip(found, told, strict=True):
        assert words in caption if words else "fitted on" not in caption


def test_no_star_where_scipy_sees_none(rng):
    base = rng.uniform(0.2, 0.3, 12)
    other = rng.permutation(base)
    assert stats.wilcoxon(other - base).pvalue > 0.01
    made = recipe(PAIR, {"1": PAIR})
    records = [
        record("dice", by_case=by_case(base)),
        record("dice-surgery", by_case=by_case(other)),
    ]
    assert not rows(tables_of(records, made, "1"))["dice-surgery"].cells["nll"].star


@pytest.fixture
def rng():
    return np.random.default_rng(5)


def test_runs_are_the_pairs_where_cases_are_few(rng):
    ones = [RunValues(str(s), {"a": 0.1 + 0.001 * s, "b": 0.2}) for s in range(9)]
    others = [RunValues(str(s), {"a": 0.3 + 0.002 * s, "b": 0.2}) for s in range(9)]
    test = paired_test(ones, others, "lower")
    differences = [
        np.mean([0.1 + 0.001 * s, 0.2]) - np.mean([0.3 + 0.002 * s, 0.2]) for s in range(9)
    ]
    assert (test.over, test.pairs) == ("runs", 9)
    assert test.p_value == pytest.approx(stats.wilcoxon(differences).pvalue)
    assert test.star
    assert not paired_test(others, ones, "lower").star


def test_no_star_where_one_case_turns_the_mean_around():
    """19 of 20 cases are worse: the test rejects, but for the other side."""
    cases = [f"case {k}" for k in range(20)]
    base = RunValues("0", dict.fromkeys(cases, 1.0) | {"case 0": 30.0})
    worse = RunValues("0", {case: 1.1 + 0.01 * k for k, case in enumerate(cases)})
    assert sum(worse.cases.values()) < sum(base.cases.values())
    test = paired_test([worse], [base], "lower")
    assert test.p_value is not None
    assert test.p_value < 0.01
    assert not test.star
    assert not paired_test([base], [worse], "lower").star  # worse on average


def test_too_few_pairs_are_not_tested():
    few = [RunValues("0", dict.fromkeys("abcdefg", 0.1))]
    many = [RunValues("0", dict.fromkeys("abcdefg", 0.2))]
    assert paired_test(few, many, "lower").p_value is None
    made = recipe(PAIR, {"1": PAIR})
    records = [record(name, cases=CASES[:7]) for name in PAIR]
    assert "No stars of ours: a test at 0.01 needs 8 cases" in tables_of(records, made, "1").caption


def test_equal_differences_tie(rng):
    base = rng.uniform(0.1, 0.9, 12)
    one = [RunValues("0", dict(zip(CASES, base - 0.1, strict=True)))]
    other = [RunValues("0", dict(zip(CASES, base, strict=True)))]
    assert paired_test(one, other, "lower").p_value == pytest.approx(
        stats.wilcoxon(np.full(12, -0.1)).pvalue
    )


def test_missing_values_are_left_out():
    values = [None, 0.1, float("nan"), *[0.2] * 9]
    made = recipe(PAIR, {"1": PAIR})
    records = [record(name, by_case=by_case(values)) for name in PAIR]
    table = tables_of(records, made, "1")
    assert "over 10 cases" in table.caption


def test_rows_without_runs_are_told():
    made = recipe([variant("dice", seeds=3), variant("ce", seeds=3)], {"1": ("ce", "dice")})
    table = tables_of([record("dice")], made, "1")
    assert rows(table)["ce"].cells["nll"].value is None
    assert list(table.notes) == ["Ce: 0 of 3 runs so far.", "Dice: 1 of 3 runs so far."]
    assert "seeds" not in table.caption  # one run is no mean, though three are wanted
    two = tables_of([record("dice"), record("dice", 1)], made, "1")
    assert "over 2 seeds" in two.caption
    nothing = tables_of([], made, "1")
    assert "Nothing is measured yet" in nothing.caption


def test_schedules_are_compared_at_the_same_seeds():
    made = recipe(
        [variant("dice", seeds=3), "dice-surgery"],
        {"schedule": PAIR, "corrections": PAIR},
    )
    records = [record("dice", seed, value) for seed, value in enumerate((0.1, 0.5, 0.9))]
    records.append(record("dice-surgery", value=0.2))
    alike, means = (tables_of(records, made, name) for name in ("schedule", "corrections"))
    first, mean = (rows(table)["dice"].cells["nll"].value for table in (alike, means))
    assert mean - first == pytest.approx(0.5 - 0.1)
    assert "One run a row" in alike.caption
    assert not alike.notes


def test_a_seed_that_failed_is_left_out_of_all_schedules():
    made = recipe([variant(name, seeds=3) for name in PAIR], {"schedule": PAIR})
    records = [record("dice", seed, value) for seed, value in enumerate((0.1, 0.5, 0.9))]
    records += [record("dice-surgery", seed, value) for seed, value in ((0, 0.2), (2, 0.4))]
    found = rows(tables_of(records, made, "schedule"))
    values = [found[name].cells["nll"].value for name in PAIR]
    assert values == [pytest.approx(10.5), pytest.approx(10.3)]  # seeds 0 and 2
    only_last = tables_of([*records[:3], records[-1]], made, "schedule")
    values = [rows(only_last)[name].cells["nll"].value for name in PAIR]
    assert values == [pytest.approx(10.9), pytest.approx(10.4)]


def test_numbers_that_the_paper_prints_twice_are_noted():
    made = recipe(PAIR, {"1": TablePart(PAIR, "inbreast"), "8": TablePart(PAIR, "inbreast")})
    notes = tables_of([record(name) for name in PAIR], made, "1").notes
    assert any("Tables 4 and 8 repeat the Dice scores of INbreast and differ" in n for n in notes)
    assert not any("italics" in note for note in notes)  # marks are ours
    plain = recipe(PAIR, {"1": PAIR})
    assert not tables_of([record(name) for name in PAIR], plain, "1").notes


def test_published_numbers_stand_beside_ours():
    made = recipe(PAIR, {"1": TablePart(PAIR, "fives")})
    table = tables_of([record(name) for name in PAIR], made, "1")
    published = table.blocks[0].published["dice-surgery"]
    assert (
        published["nll"].value
        == published_table(1).blocks["fives"].cells["dice-surgery"]["nll"].value
    )
    assert "0.0540" in to_markdown(table)


def test_an_unknown_published_block():
    made = recipe(PAIR, {"1": TablePart(PAIR, "kits")})
    with pytest.raises(ValueError, match=r"tables.1.published: expected one of inbreast, fives"):
        tables_of([], made, "1")


def test_the_ablation_has_the_papers_keys():
    names = [f"dice-surgery.n{n}" for n in (1, 20)]
    made = recipe(names, {"3": TablePart(tuple(names), "fives")})
    table = tables_of([record(name) for name in names], made, "3")
    assert list(rows(table)) == ["n1", "n20"]
    assert table.blocks[0].published["n20"]["nll"].value == 0.0528


def lesion_rows(counts, detected, ece):
    edges = (10.125, 4346.0, 15913.0, 63596.0, None)
    return [
        {
            "low": low,
            "high": high,
            "count": n,
            "detected": d,
            "own_detected": d - 1,
            "ece": e,
            "top_ece": e,
        }
        for low, high, n, d, e in zip(edges, edges[1:], counts, detected, ece, strict=False)
    ]


def test_lesions_by_size():
    made = recipe(PAIR, {"6": TablePart(PAIR, "kits")})
    found = {"lesion": {"none": lesion_rows((0, 4, 5, 10), (0, 3, 5, 8), (None, 0.3, 0.2, 0.1))}}
    table = tables_of([record(name, lesions=found, dimensions=3) for name in PAIR], made, "6")
    assert len(table.blocks) == 4
    assert rows(table, 0)["dice"].cells["detection"].value is None
    assert rows(table, 1)["dice"].cells["detection"].value == 0.75
    assert rows(table, 1)["dice"].cells["own_detection"].value == 0.5
    assert rows(table, 3)["dice"].cells["ece"].value == 0.1
    assert table.blocks[0].published == {}
    assert table.blocks[1].published["dice"]["detection"].value == 0.9091
    assert table.blocks[3].published["dice"]["detection"].value == 0.9872


def test_only_lesions_of_the_papers_own_sizes_stand_beside_its_numbers():
    made = recipe(PAIR, {"6": TablePart(PAIR, "kits")})
    sizes = lesion_rows((2, 4, 5), (1, 3, 5), (0.4, 0.3, 0.2))
    wider = {**sizes[2], "high": None}  # what the paper divides into large and very large
    found = {"lesion": {"none": [*sizes[:2], wider]}}
    table = tables_of([record(name, lesions=found, dimensions=3) for name in PAIR], made, "6")
    assert [bool(block.published) for block in table.blocks] == [False, True, False]


def test_logits():
    means = {"lesion": {"means": [[6.0, -5.0], [-1.0, 3.0]]}}
    made = recipe(PAIR, {"8": TablePart(PAIR, "fives")})
    cells = rows(tables_of([record(name, logits=means) for name in PAIR], made, "8"))["dice"].cells
    assert cells["fg_logit_in_fg"].value == 3.0
    assert cells["bg_logit_in_fg"].value == -1.0
    assert cells["fg_logit_in_bg"].value == -5.0
    assert cells["bg_logit_in_bg"].value == 6.0


def test_corrections_of_every_loss():
    made = recipe(PAIR, {"corrections": PAIR})
    with_equilibrium = ("none", "equilibrium", "bias", "temperature")
    truth = {"posterior": {"nll": 0.02, "ece": 0.001}, "none": {"rms": 0.3, "kl": 0.2}}
    records = [
        record("dice", posterior=truth),
        record("dice-surgery", corrections=with_equilibrium),
    ]
    table = tables_of(records, made, "corrections")
    assert list(rows(table)) == [
        "dice",
        "dice, bias",
        "dice, temperature",
        "dice-surgery",
        "dice-surgery, equilibrium",
        "dice-surgery, bias",
        "dice-surgery, temperature",
    ]
    assert rows(table)["dice-surgery, bias"].base == "dice, bias"
    assert rows(table)["dice-surgery, equilibrium"].base == "dice"
    assert "dsc" not in rows(table)["dice, bias"].cells
    assert rows(table)["dice, bias"].cells["nll"].value == pytest.approx(11.1)
    assert rows(table)["dice"].cells["rms"].value == 0.3
    assert rows(table, 1)["posterior"].cells["nll"].value == 0.02


def test_shift_by_strength():
    made = recipe(PAIR, {"shift": PAIR})
    table = tables_of([record("dice", value=0.2, shift=shift_of(1.0))], made, "shift")
    assert len(table.blocks) == 12
    cells = rows(table)["dice"].cells
    assert cells["strength0"].value == pytest.approx(10.2 + 0.03)
    assert [cells[f"strength{k}"].value for k in range(1, 6)] == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert set(rows(table)) == {"dice", "dice, temperature", "dice-surgery"}


def test_dice_under_shift_is_better_when_higher():
    made = recipe(PAIR, {"shift": PAIR})
    records = [
        record("dice", dice=0.7, shift=shift_of(0.5)),
        record("dice-surgery", dice=0.8, shift=shift_of(0.4)),
    ]
    table = tables_of(records, made, "shift")
    block = next(k for k, b in enumerate(table.blocks) if b.title.startswith("DSC: blur"))
    assert set(rows(table, block)) == set(PAIR)  # no correction changes a mask
    cells = rows(table, block)["dice-surgery"].cells
    assert [cells[f"strength{k}"].value for k in (0, 1)] == [0.8, pytest.approx(0.04)]
    lines = list(csv.DictReader(to_csv(table).splitlines()))
    best = {
        (line["block"].partition(":")[0], line["column"]): line["row"]
        for line in lines
        if line["place"] == "1" and "blur" in line["block"]
    }
    assert best["DSC", "strength0"] == "dice-surgery"
    assert best["DSC", "strength1"] == "dice"
    assert best["ECE", "strength1"].startswith("dice-surgery")


def test_surgery_with_an_ending_is_compared_with_its_like():
    names = ("dice", "dice-surgery", "dice.sgd", "dice-surgery.sgd", "dice-surgery.n1")
    made = recipe(names, {"optimiser": names})
    found = rows(tables_of([record(name) for name in names], made, "optimiser"))
    bases = {name: found[name].base for name in names}
    assert bases["dice-surgery.sgd"] == "dice.sgd"
    assert bases["dice-surgery"] == bases["dice-surgery.n1"] == "dice"


def test_more_steps_are_shown_raw_after_the_closed_form_and_a_temperature():
    names = ("dice", "dice.long", "dice-surgery", "dice-surgery.long")
    corrections = ("none", "equilibrium", "bias", "temperature")
    records = [record(name, corrections=corrections) for name in names]
    table = tables_of(records, recipe(names, {"budget": names}), "budget")
    assert table.title.startswith("Fewer and more steps")
    found = rows(table)
    ends = ("", ", equilibrium", ", temperature")
    assert set(found) == {f"{name}{end}" for name in names for end in ends}
    assert found["dice-surgery.long"].base == "dice.long"


def test_volumes_agree_as_bland_and_altman_say(rng):
    truth, estimate = rng.uniform(0, 30, 12), rng.uniform(0, 30, 12)
    found = agreement(estimate.tolist(), truth.tolist())
    gaps = estimate - truth
    assert found["bias"] == pytest.approx(gaps.mean())
    assert found["low"] == pytest.approx(gaps.mean() - 1.96 * gaps.std(ddof=1))
    assert found["high"] == pytest.approx(gaps.mean() + 1.96 * gaps.std(ddof=1))
    assert found["error"] == pytest.approx(np.abs(gaps).mean())
    assert agreement([1.0, None], [2.0, 3.0]) == {}
    volumes = {
        "lesion": {
            "true": truth.tolist(),
            "own": estimate.tolist(),
            "plain": estimate.tolist(),
            "expected": {"none": truth.tolist(), "bias": (truth + 1).tolist()},
        }
    }
    made = recipe(["dice"], {"volume": ["dice"]})
    records = [record("dice", volumes=volumes, dimensions=3, corrections=("none", "bias"))]
    table = tables_of(records, made, "volume")
    assert rows(table)["dice"].cells["bias"].value == pytest.approx(0.0, abs=1e-12)
    assert rows(table)["dice, bias"].cells["bias"].value == pytest.approx(1.0)
    assert rows(table)["dice, mask"].cells["bias"].value == pytest.approx(gaps.mean())
    assert table.columns[0].unit == "ml"


@pytest.mark.parametrize("name", TABLES)
def test_every_table_is_written_in_every_format(name):
    made = recipe(PAIR, {name: PAIR})
    found = {"lesion": {"none": lesion_rows((2, 4, 5, 10), (1, 3, 5, 8), (0.4, 0.3, 0.2, 0.1))}}
    means = {"lesion": {"means": [[6.0, -5.0], [-1.0, 3.0]]}}
    ml = list(range(12))
    expected = dict.fromkeys(("none", "bias", "temperature"), ml)
    volumes = {"lesion": {"true": ml, "own": ml, "plain": ml, "expected": expected}}
    records = [
        record(n, lesions=found, logits=means, shift=shift_of(0.1), volumes=volumes) for n in PAIR
    ]
    for some in (records, []):
        table = tables_of(some, made, name)
        for write in (to_markdown, to_latex, to_html):
            assert "Dice-Surgery" in write(table)
    assert "Dice-Surgery" in to_csv(tables_of(records, made, name))


def test_unknown_tables():
    made = recipe(PAIR, {"1": PAIR})
    with pytest.raises(ValueError, match="table: unknown '9'; known: 1, 2"):
        tables_of([], made, "9")
    with pytest.raises(ValueError, match="no table '2'; there are: 1"):
        tables_of([], made, "2")


def test_random_search_says_which_runs():
    made = recipe(["dice"], {"1": ["dice"]}, kind="random", trials=25, keep=5)
    table = tables_of([record("dice")], made, "1")
    assert "over the 5 best of 25 runs by validation Dice" in table.caption
    one = recipe(["dice"], {"1": ["dice"]}, kind="random", trials=10, keep=1)
    assert "The best of 10 runs" in tables_of([record("dice")], one, "1").caption


def test_a_variant_at_anothers_point_has_its_seeds(rng):
    follower = Variant("dice.n1", "n", "dice", point_of="dice")
    made = recipe(["dice", follower], {"1": ["dice.n1"]}, kind="random", trials=25, keep=5)
    assert not tables_of([record("dice.n1")], made, "1").notes


def test_every_commit_is_named_and_changed_sources_are_told():
    made = recipe([variant("dice", seeds=5)], {"1": ["dice"]})
    records = [
        replace(record("dice", seed), provenance=told)
        for seed, told in enumerate(
            [{"commit": "a1"}, {"commit": "b2+"}, {}, {"commit": "a1"}, {"commit": "d4"}]
        )
    ]
    told = tables_of(records, made, "1").provenance["commit"]
    assert told == "a1; b2+; unknown; d4 (+: with changes not committed)"
    assert tables_of(records[:1], made, "1").provenance["commit"] == "a1"


def test_one_case_is_told_as_one():
    made = recipe(["dice"], {"1": ["dice"]})
    assert "1 test image, as" in tables_of([record(cases=["a"])], made, "1").caption
    assert "2 test images, as" in tables_of([record(cases=["a", "b"])], made, "1").caption
