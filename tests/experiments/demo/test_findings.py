"""What a demo says follows from its numbers, also where they disappoint."""

import math

import pytest

from gradsurge.experiments.demo.compared import CORRECTED, ENTROPY, PLAIN, POSTERIOR, SURGERY
from gradsurge.experiments.demo.findings import find, sentences
from gradsurge.experiments.demo.result import ScoreRow


def row(name, nll=0.04, ece=0.004, dsc=66.0, **more):
    return ScoreRow(name, nll=nll, ece=ece, mce=0.3, brier=0.005, dsc=dsc, mask="p > 0.50", **more)


def table(surgery=0.0164, corrected=0.0006, dsc=65.5, posterior=False, **of_dice):
    truth = {"distance": 0.004, "rms": 0.05} if posterior else {}
    rows = [
        row(PLAIN, **of_dice, **truth),
        row(SURGERY, nll=surgery, dsc=dsc, **truth),
        row(CORRECTED, nll=0.015, ece=corrected, dsc=dsc, **truth),
    ]
    if posterior:
        rows.append(row(POSTERIOR, ece=0.00033, distance=0.0, rms=0.0))
    return {r.name: r for r in rows}


def test_ratios_are_of_raw_nll_and_corrected_ece():
    found = find(table(surgery=0.017, corrected=0.0006, dsc=65.5))
    assert found.nll_ratio == pytest.approx(0.017 / 0.04)
    assert found.ece_ratio == pytest.approx(0.0006 / 0.004)
    assert found.dsc_difference == pytest.approx(-0.5)
    assert all(found.holds.values())


@pytest.mark.parametrize(
    ("numbers", "broken"),
    [
        ({"surgery": 0.021}, "NLL at most half"),
        ({"corrected": 0.0021}, "ECE corrected at most half"),
        ({"dsc": 64.9}, "DSC no more than a point lower"),
    ],
)
def test_each_claim_can_fail(numbers, broken):
    holds = find(table(**numbers)).holds
    assert [name for name, held in holds.items() if not held] == [broken]


def test_a_demo_that_shows_it_says_so_with_its_numbers():
    first, second = sentences(table())
    for text in (
        "equally good",
        "DSC 65.5",
        "66.0",
        "far better by NLL, at 41%",
        "NLL 0.0164 against 0.0400",
    ):
        assert text in first
    for text in ("15% of Dice's", "ECE 0.00060 against 0.00400"):
        assert text in second
    assert "posterior" not in second
    assert [s.count(". ") for s in (first, second)] == [0, 0]  # one sentence each


@pytest.mark.parametrize(
    ("numbers", "words", "never"),
    [
        ({"surgery": 0.03}, "better by NLL, yet at 75% of Dice's, not at half", "far better"),
        ({"surgery": 0.0201}, "at 50.2% of Dice's, not at half", "far better"),
        ({"surgery": 0.02001}, "at 50.02% of Dice's, not at half", "far better"),
        ({"surgery": 0.0393}, "about the same as Dice's by NLL", "better"),
        ({"surgery": 0.0407}, "about the same as Dice's by NLL", "worse"),
        ({"surgery": 0.0409}, "worse than Dice's by NLL", "better"),
        ({"surgery": math.nan}, "cannot be compared by NLL", "worse than"),
        ({"dsc": 60.0}, "masks are worse", "equally good"),
        ({"dsc": 70.0}, "masks are better", "equally good"),
        ({"dsc": math.nan}, "cannot be compared", "equally good"),
        ({"corrected": 0.003}, "75% of Dice's, not half of it", "above Dice's"),
        ({"corrected": 0.00402}, "error is about the same as Dice's", "100% of"),
        ({"corrected": 0.005}, "error is above Dice's", "125% of"),
        ({"ece": 0.0}, "error cannot be compared with Dice's", "above Dice's"),
        ({"corrected": math.nan}, "error cannot be compared with Dice's", "above Dice's"),
    ],
)
def test_a_demo_that_does_not_show_it_says_that(numbers, words, never):
    text = " ".join(sentences(table(**numbers)))
    assert words in text
    assert never not in text


def test_the_floor_is_told_where_the_truth_is_known():
    _, second = sentences(table(posterior=True))
    assert "the true posterior itself: 0.00033" in second
    assert "root mean square" in second


def test_without_a_correction_nothing_is_claimed_for_it():
    rows = table()
    del rows[CORRECTED]
    assert not find(rows).holds["ECE corrected at most half"]
    assert "no closed-form correction" in sentences(rows)[1]
    assert "gradsurge show" in sentences(rows)[1]


def test_a_correction_that_the_run_rejects_is_not_praised_alone():
    words = "(its validation cases did not ask for it)"
    assert words in sentences(table(), "none")[1]
    assert words not in sentences(table(), "equilibrium")[1]
    assert words not in sentences(table(), "temperature")[1]


def test_cross_entropy_has_its_clause():
    rows = table() | {ENTROPY: row(ENTROPY, ece=0.00071, dsc=61.2)}
    assert "cross-entropy, with DSC 61.2, has ECE 0.00071 as trained" in sentences(rows)[1]
    assert "cross-entropy" not in sentences(table())[1]
