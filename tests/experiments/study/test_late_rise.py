"""What the last steps of trainings brought."""

from dataclasses import replace

import pytest

from gradsurge.experiments.study.late_rise import late_rise, told_rise
from gradsurge.experiments.study.summary import summary_of
from tests.experiments.study.records import recipe, record


def trained(name, *dice, seed=0):
    """Return a record with validations every 100 steps."""
    made = record(name, seed=seed)
    curve = [[100 * (i + 1), value] for i, value in enumerate(dice)]
    return replace(made, training={**made.training, "curve": curve, "steps": curve[-1][0]})


def test_the_rise_is_from_four_fifths_of_the_steps_to_their_end():
    flat_then_up = [[k * 100, 0.5 if k <= 8 else 0.6] for k in range(1, 11)]
    assert late_rise(flat_then_up, 1000) == pytest.approx(0.1)
    early_only = [[step, 0.1 if step < 800 else 0.6] for step, _ in flat_then_up]
    assert late_rise(early_only, 1000) == pytest.approx(0.0)


@pytest.mark.parametrize("every", [1, 3, 7, 100, 480, 500])
def test_a_validation_at_four_fifths_itself_is_where_the_rise_begins(every):
    curve = [[k * every, 0.1 * k] for k in range(1, 6)]
    assert late_rise(curve, 5 * every) == pytest.approx(0.1)


def test_between_validations_dice_rises_evenly():
    every_quarter = [[200, 0.2], [400, 0.4], [600, 0.6], [800, 0.7]]
    assert late_rise(every_quarter, 800) == pytest.approx(0.7 - 0.62)  # 640 is a fifth of the way


def test_without_an_early_validation_nothing_is_told():
    assert late_rise([], 1000) is None
    assert late_rise([[900, 0.5], [1000, 0.6]], 1000) is None


def test_without_a_validation_of_the_end_nothing_is_told():
    assert late_rise([[500, 0.5], [900, 0.6]], 1000) is None


def test_a_fall_is_told_as_one():
    assert late_rise([[80, 0.6], [100, 0.5]], 100) == pytest.approx(-0.1)


def test_only_runs_of_whole_losses_with_a_curve_count():
    runs = [
        trained("dice", 0.1, 0.2, 0.3, 0.40, 0.42),
        trained("dice", 0.1, 0.2, 0.3, 0.40, 0.39, seed=1),
        trained("dice.long", 0.1, 0.2, 0.3, 0.4, 0.9),
        record("ce"),
    ]
    told = told_rise(runs)
    assert "rose by 0.5 points on average (-1.0 to 2.0; 2 of 3 runs" in told


def test_the_summary_has_a_column_of_it():
    made = recipe(["dice", "ce"], {"1": ("dice", "ce")})
    page = summary_of(made, [trained("dice", 0.1, 0.2, 0.3, 0.40, 0.42), record("ce")], [])
    rows = [line.split(" | ") for line in page.splitlines() if line.startswith("| ")]
    place = rows[0].index("last fifth")
    assert [row[place] for row in rows[1:]] == ["+2.0", "-"]
    assert all(len(row) == len(rows[0]) for row in rows)
    assert page.count("Over the last fifth") == 1


def test_a_summary_without_curves_says_nothing_of_their_end():
    page = summary_of(recipe(["ce"], {"1": ("ce",)}), [record("ce")], [])
    assert "last fifth of the steps" not in page
    assert not [line for line in page.splitlines() if line != line.rstrip()]
