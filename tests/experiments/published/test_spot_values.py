"""Values typed by hand from the paper, and what holds for every table."""

import pytest

from gradsurge.experiments.published import TABLES, PublishedCell, published_table
from gradsurge.losses import LOSSES

# table, block, row, column, value, deviation, star, mark
SPOTS = [
    (1, "inbreast", "ce", "dsc", 66.21, 3.57, False, None),
    (1, "inbreast", "ce+dice-surgery", "mce", 0.1568, 0.0092, False, "underline"),
    (1, "inbreast", "dice-surgery", "nll", 0.0164, 0.0042, True, "underline"),
    (1, "inbreast", "tversky-surgery", "brier", 0.0047, 0.0009, False, None),
    (1, "fives", "nacl", "ece", 0.0043, 0.0, False, "bold"),
    (1, "fives", "ace+dice", "nll", 0.0756, 0.002, False, None),
    (1, "fives", "dice", "dsc", 88.03, 0.25, False, "bold"),
    (1, "fives", "tversky-surgery", "nll", 0.0532, 0.0009, True, "bold"),
    (2, "brats-mets", "dice++", "mce", 0.1359, None, False, "bold"),
    (2, "brats-mets", "tversky", "dsc", 72.39, None, False, "underline"),
    (2, "brats-mets", "dice-surgery", "brier", 0.0014, None, False, "bold"),
    (2, "kits", "nacl", "ece", 0.0509, None, False, None),
    (2, "kits", "tversky-surgery", "nll", 0.0229, None, False, "italic"),
    (3, "fives", "n1", "nll", 0.0565, None, False, None),
    (3, "fives", "n20", "dsc", 87.84, None, False, "bold"),
    (3, "fives", "n1000", "mce", 0.0485, None, False, None),
    (4, "inbreast", "nacl+dice", "dsc", 72.07, 2.57, False, None),
    (4, "inbreast", "dice", "dsc", 65.06, 3.31, False, None),
    (4, "fives", "tversky-surgery", "brier", 0.1432, 0.0021, True, "bold"),
    (5, "kits", "ce+dice", "nll", 8.9081, None, False, None),
    (5, "kits", "dice-surgery", "brier", 0.5193, None, False, "underline"),
    (6, "small", "tversky-surgery", "ece", 0.1664, None, False, None),
    (6, "large", "ce+dice-surgery", "detection", 0.9359, None, False, None),
    (6, "very-large", "dice++", "detection", 1.0, None, False, None),
    (7, "kits-primus", "ce+dice-surgery", "mce", 0.1173, None, False, "bold"),
    (8, "inbreast", "ce+dice-surgery", "bg_logit_in_fg", -1.33, 0.89, False, None),
    (8, "fives", "dice", "fg_logit_in_fg", 26.42, 13.03, False, None),
    (8, "fives", "tversky-surgery", "bg_logit_in_bg", 3.49, 0.16, False, None),
]
BLOCKS = {
    1: {"inbreast": 12, "fives": 11},
    2: {"brats-mets": 7, "kits": 12},
    3: {"fives": 10},
    4: {"inbreast": 12, "fives": 11},
    5: {"kits": 12},
    6: {"small": 7, "large": 7, "very-large": 7},
    7: {"kits-primus": 2},
    8: {"inbreast": 6, "fives": 6},
}


@pytest.mark.parametrize(
    ("table", "block", "row", "column", "value", "deviation", "star", "mark"), SPOTS
)
def test_spot(table, block, row, column, value, deviation, star, mark):
    cell = published_table(table).blocks[block].rows[row].cells[column]
    assert (cell.value, cell.deviation, cell.star, cell.mark) == (value, deviation, star, mark)


@pytest.mark.parametrize("number", TABLES)
def test_blocks_rows_and_columns(number):
    table = published_table(number)
    assert {name: len(block.rows) for name, block in table.blocks.items()} == BLOCKS[number]
    names = {column.name for column in table.columns}
    for name, block in table.blocks.items():
        assert block.name == name
        for key, row in block.rows.items():
            assert row.key == key
            assert set(row.cells) == names
            assert block.cells[key] is row.cells


@pytest.mark.parametrize("number", [n for n in TABLES if n != 3])
def test_rows_are_losses_of_ours_and_surgeries_know_their_base(number):
    for block in published_table(number).blocks.values():
        for key, row in block.rows.items():
            assert key in LOSSES
            assert row.base == (key.removesuffix("-surgery") if "surgery" in key else None)
            assert row.base is None or row.base in block.rows


def test_the_ablation_has_the_exponents_of_the_text():
    exponents = [1, 2, 5, 20, 40, 60, 80, 100, 200, 1000]
    assert list(published_table(3).blocks["fives"].rows) == [f"n{n}" for n in exponents]


def test_notes_speak_of_cells_that_there_are():
    for number in TABLES:
        table = published_table(number)
        assert table.caption
        assert table.title
        for note in table.notes:
            for block, row, column in note.cells:
                assert isinstance(table.blocks[block].rows[row].cells[column], PublishedCell)


@pytest.mark.parametrize("number", [0, 9, -1, "1"])
def test_other_numbers_are_refused(number):
    with pytest.raises(ValueError, match=r"published table: expected a number from 1 to 8, got"):
        published_table(number)


def test_nobody_can_change_what_everybody_reads():
    table = published_table(1)
    assert published_table(1) is table
    with pytest.raises(TypeError):
        table.blocks["inbreast"] = table.blocks["fives"]
    with pytest.raises(TypeError):
        table.blocks["fives"].rows["ce"].cells["nll"] = PublishedCell(0.0)
