"""Tables whose rows, runs or structures are not alike."""

import pytest

from gradsurge.experiments.recipes import TablePart, Variant
from gradsurge.experiments.study.tables import tables_of
from tests.experiments.study.records import CASES, block, recipe, record, shift_of, variant

PAIR = ("dice", "dice-surgery")


def test_the_ablation_of_two_losses_keeps_its_rows_apart():
    names = ("dice-surgery.n5", "tversky-surgery.n5", "dice-surgery.n20")
    made = recipe(names, {"3": TablePart(names, "fives")})
    table = tables_of([record(name) for name in names], made, "3")
    assert [row.key for row in table.blocks[0].rows] == [*names[:2], "n20"]
    published = table.blocks[0].published
    beside = [row.key in published for row in table.blocks[0].rows]
    assert beside == [False, False, True]  # whose n = 5 would the paper's be?


def test_a_strength_that_one_run_has_lost_has_no_number():
    made = recipe([variant("dice", seeds=2)], {"shift": ["dice"]})
    records = [record("dice", seed, shift=shift_of(0.5)) for seed in range(2)]
    records[1].measured.shift["blur"]["none"]["ece"] = [0.5, 1.5, None, 3.5, 4.5]
    table = tables_of(records, made, "shift")
    cells = block(table, "ECE: blur")["dice"].cells
    found = [cells[f"strength{k}"].value for k in range(1, 6)]
    assert found == [0.5, 1.5, None, 3.5, 4.5]
    assert block(table, "NLL: blur")["dice"].cells["strength3"].value == pytest.approx(2.5)


def sizes(edges, detected):
    """Return rows of two sizes, of ten lesions each."""
    return {
        "none": [
            {
                "low": low,
                "high": high,
                "count": 10,
                "detected": n,
                "own_detected": n,
                "ece": 0.1 * n,
                "top_ece": 0.2 * n,
            }
            for low, high, n in zip(edges, (*edges[1:], None), detected, strict=True)
        ]
    }


def test_lesions_of_every_structure():
    found = {"front": sizes((0, 9.0), (2, 8)), "back": sizes((0, 20.0), (4, 6))}
    made = recipe(["dice"], {"6": ["dice"]})
    made_record = record(lesions=found, dimensions=3, structures=["front", "back"])
    table = tables_of([made_record], made, "6")
    assert [one.title for one in table.blocks] == [
        "front, 0 to 9 mm³ (10 lesions)",
        "front, from 9 mm³ (10 lesions)",
        "back, 0 to 20 mm³ (10 lesions)",
        "back, from 20 mm³ (10 lesions)",
    ]
    shares = [one.rows[0].cells["detection"].value for one in table.blocks]
    assert shares == [0.2, 0.8, 0.4, 0.6]
    assert "means over" not in table.caption


@pytest.mark.parametrize("lost", [0, 1])
def test_lesions_of_other_sizes_are_not_mixed(lost):
    made = recipe([variant("dice", seeds=2), variant("ce", seeds=1)], {"6": ["dice", "ce"]})
    records = []
    for name, seed in (("dice", 0), ("dice", 1), ("ce", 0)):
        whole = (name, seed) != ("dice", lost)
        found = {"lesion": sizes((0, 9.0 if whole else 12.0), (2, 8))}
        cases = CASES if whole else CASES[1:]
        records.append(record(name, seed, lesions=found, dimensions=3, cases=cases))
    rows = block(tables_of(records, made, "6"), "from 9 mm³")
    assert rows["dice"].cells["detection"].value is None
    assert rows["ce"].cells["detection"].value == 0.8


def test_volumes_of_several_structures_are_no_means():
    of_one = {"true": [1.0, 2.0], "own": [1.0, 2.0], "plain": [1.0, 2.0]}
    of_one["expected"] = {"none": [1.0, 3.0]}
    made = recipe(["dice"], {"volume": ["dice"]})
    one = record(
        volumes={"front": of_one, "back": of_one},
        structures=["front", "back"],
        corrections=("none",),
        cases=["a", "b"],
    )
    table = tables_of([one], made, "volume")
    assert [b.title for b in table.blocks][:2] == ["front", "back"]
    assert "means over" not in table.caption


def test_captions_of_rows_at_another_ones_point():
    follower = Variant("dice-surgery.n1", "n", "dice-surgery", point_of="dice-surgery")
    names = [*PAIR, follower]
    made = recipe(names, {"1": [*PAIR, "dice-surgery.n1"]}, kind="random", trials=25, keep=5)
    caption = tables_of([record("dice")], made, "1").caption
    assert "over the 5 best of 25 runs by validation Dice. Rows at the best point of " in caption
    assert "dice-surgery: by seeds." in caption


def test_captions_where_only_variants_search():
    own = variant("dice", space={"training.learning_rate": (0.1, 0.2)})
    caption = tables_of([record("dice")], recipe([own], {"1": ["dice"]}), "1").caption
    assert "at the point that was best by validation Dice" in caption
    plain = tables_of([record("dice")], recipe(["dice"], {"1": ["dice"]}), "1").caption
    assert "at the point" not in plain
