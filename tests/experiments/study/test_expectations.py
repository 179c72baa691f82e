"""What was expected, checked against records whose numbers are known."""

from dataclasses import replace

import pytest

from gradsurge.experiments.study.expectations import expectations_of, expectations_page
from tests.experiments.study.records import recipe, record, variant

PAIR = ("none", "temperature")  # after temperature all scores of `records` are higher by one
SURGICAL = ("none", "equilibrium", "temperature")


@pytest.fixture
def study():
    return recipe(
        [variant("ce", 2), variant("dice", 2), variant("dice-surgery", 2)],
        {"corrections": ["ce", "dice", "dice-surgery"]},
    )


def made(surgery=(0.1, 0.1), dice=(0.3, 0.3), ce=(0.2, 0.2), overlap=0.7):
    rows = {"ce": (ce, 0.7, PAIR), "dice": (dice, 0.7, PAIR)}
    rows["dice-surgery"] = (surgery, overlap, SURGICAL)
    return [
        record(name, seed, value, dice=dsc, corrections=corrections)
        for name, (values, dsc, corrections) in rows.items()
        for seed, value in enumerate(values)
    ]


def found(checked, of, against, score):
    (one,) = [c for c in checked if (c.of, c.against, c.column.name) == (of, against, score)]
    return one


def test_all_that_was_expected_is_checked(study):
    checked = expectations_of(made(), study)
    pairs = {(one.of, one.against): 0 for one in checked}
    for one in checked:
        pairs[one.of, one.against] += 1
    assert pairs == {
        ("dice-surgery", "dice"): 5,  # NLL, ECE, MCE, Brier; and DSC
        ("dice-surgery, equilibrium", "ce"): 4,
        ("dice-surgery", "dice, temperature"): 4,
        ("dice-surgery, equilibrium", "dice, temperature"): 4,
        ("dice-surgery, temperature", "dice, temperature"): 4,
    }


def test_cross_entropy_with_more_steps_is_a_rival_too():
    variants = [variant(name) for name in ("ce", "dice", "dice-surgery", "dice-surgery.long")]
    others = [variant("ce.long", share=3.0), variant("ce.short", share=0.5)]
    asked = recipe(
        [*variants, *others],
        {
            "corrections": ["ce", "dice", "dice-surgery"],
            "budget": ["ce", "ce.long", "ce.short", "dice-surgery.long"],
        },
    )
    records = [
        *made(),
        record("ce.short", 0, 0.3, corrections=PAIR),
        record("ce.long", 0, 0.05, corrections=PAIR),
        record("dice-surgery.long", 0, 0.1, corrections=SURGICAL),
    ]
    checked = expectations_of(records, asked)
    one = found(checked, "dice-surgery, equilibrium", "ce.long", "nll")
    assert (one.limit, one.runs) == (pytest.approx(10.05), (0, 1))
    against = {one.against for one in checked if one.of == "dice-surgery, equilibrium"}
    assert against == {"ce", "ce.long", "dice, temperature"}
    assert not any(one.of.startswith("dice-surgery.long") for one in checked)


def test_all_kept_trials_of_a_random_search_count():
    """They have one seed; the trial, the same point for all losses, pairs them."""
    names = ["dice", "dice-surgery"]
    asked = recipe(names, {"corrections": names}, kind="random", trials=9, keep=3)
    rows = {"dice": (0.5, 0.6, 0.7), "dice-surgery": (0.1, 0.2, 0.9)}
    records = [
        replace(record(name, 0, value, corrections=PAIR), run=f"trial_{k}", point={"lr": k})
        for name, values in rows.items()
        for k, value in enumerate(values)
    ]
    one = found(expectations_of(records, asked), "dice-surgery", "dice", "nll")
    assert (one.found, one.limit) == (pytest.approx(10.4), pytest.approx(10.6))
    assert one.runs == (2, 3)


def test_means_decide_and_seeds_are_counted(study):
    checked = expectations_of(made(surgery=(0.1, 0.4), dice=(0.3, 0.3)), study)
    one = found(checked, "dice-surgery", "dice", "nll")
    assert one.holds
    assert (one.found, one.limit) == (pytest.approx(10.25), pytest.approx(10.3))
    assert one.runs == (1, 2)


def test_an_equal_score_is_as_good(study):
    checked = expectations_of(made(surgery=(0.3, 0.3)), study)
    assert found(checked, "dice-surgery", "dice", "ece").holds


@pytest.mark.parametrize(("overlap", "holds"), [(0.71, True), (0.696, True), (0.694, False)])
def test_dice_may_be_half_a_point_lower(study, overlap, holds):
    checked = expectations_of(made(overlap=overlap), study)
    assert found(checked, "dice-surgery", "dice", "dsc").holds is holds


def test_what_failed_is_told_first(study):
    checked = expectations_of(made(surgery=(0.5, 0.5), overlap=0.9), study)
    page = expectations_page(study, checked)
    assert page.index("**Does not hold**") < page.index("**Holds**")
    assert "| dice-surgery | dice | NLL | 10.5000 | 10.3000 | 1.02 | 0 of 2 |" in page
    assert "| dice-surgery | dice | DSC | 90.00 | 70.00 | 1.29 | 2 of 2 |" in page
    assert page.index("| NLL | 10.5000 | 10.3000") < page.index("| DSC | 90.00")


def test_nothing_is_checked_without_numbers(study):
    assert expectations_of([], study) == []
    assert expectations_of(made(), recipe(["dice"], {"1": ["dice"]})) == []
    alone = [one for one in made() if one.variant == "dice-surgery"]
    assert expectations_of(alone, study) == []
