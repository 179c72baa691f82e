"""The notes list the contradictions of the printed numbers: all of them, and no others."""

import pytest

from gradsurge.experiments.published import published_table


def noted(number, kind):
    notes = published_table(number).notes
    return {cell for note in notes if note.kind == kind for cell in note.cells}


def wrong_marks(table):
    """Return cells whose bold or underline is not what a plain sort of the values says."""
    found = set()
    for name, block in table.blocks.items():
        for column in table.columns:
            cells = {key: row.cells[column.name] for key, row in block.rows.items()}
            values = sorted({cell.value for cell in cells.values()})
            best, second = values[:2] if column.better == "lower" else values[:-3:-1]
            for key, cell in cells.items():
                expected = {best: "bold", second: "underline"}.get(cell.value)
                printed = None if cell.mark == "italic" else cell.mark
                if printed != expected:
                    found.add((name, key, column.name))
    return found


@pytest.mark.parametrize("number", [1, 2, 3, 4, 5])
def test_every_wrong_mark_is_noted(number):
    assert noted(number, "mark") == wrong_marks(published_table(number))


@pytest.mark.parametrize("number", [6, 8])
def test_tables_without_marks(number):
    rows = [row for block in published_table(number).blocks.values() for row in block.rows.values()]
    assert {cell.marks for row in rows for cell in row.cells.values()} == {()}
    assert not noted(number, "mark")


def test_table_7_marks_the_best_only():
    (block,) = published_table(7).blocks.values()
    plain, surgery = block.rows.values()
    assert [cell.mark for cell in plain.cells.values()] == [None] * 4 + ["bold"]
    assert [cell.mark for cell in surgery.cells.values()] == ["bold"] * 4 + [None]


def test_every_dice_score_that_differs_between_tables_is_noted():
    printed = {}
    for number in (1, 2, 4, 5, 8):
        for name, block in published_table(number).blocks.items():
            for key, row in block.rows.items():
                cell = row.cells["dsc"]
                printed.setdefault((name, key), {})[number] = (cell.value, cell.deviation)
    for number in (1, 4, 8):
        differing = {
            (*where, "dsc")
            for where, found in printed.items()
            if number in found and any(found[number] != other for other in found.values())
        }
        assert noted(number, "value") == differing
    assert all(found[2] == found[5] for found in printed.values() if 5 in found)


def factors(column):
    return [
        block.rows[row.base].cells[column].value / row.cells[column].value
        for number in (1, 2)
        for block in published_table(number).blocks.values()
        for row in block.rows.values()
        if row.base
    ]


def test_the_text_s_factors_are_not_in_its_tables():
    assert max(factors("nll")) == pytest.approx(5.8, abs=0.05)
    assert max(factors("ece")) == pytest.approx(3.7, abs=0.05)
    for column in ("nll", "ece", "mce", "brier"):
        assert min(factors(column)) > 1  # but surgery always helped


@pytest.mark.parametrize(
    ("number", "block", "column", "ahead"),
    [(1, "fives", "mce", ["ce", "nacl"]), (2, "kits", "nll", ["svls"])],
)
def test_where_no_surgery_is_among_the_best(number, block, column, ahead):
    rows = published_table(number).blocks[block].rows
    best = sorted(rows, key=lambda key: rows[key].cells[column].value)
    assert best[: len(ahead)] == ahead


def test_detection_rates_are_counts_of_77_and_78_lesions():
    for name, block in published_table(6).blocks.items():
        lesions = 77 if name == "small" else 78
        rates = {round(count / lesions, 4) for count in range(lesions + 1)}
        off = {key for key, row in block.rows.items() if row.cells["detection"].value not in rates}
        assert off == ({"ce+dice-surgery"} if name == "very-large" else set())


def test_where_detection_did_not_improve():
    (note,) = [n for n in published_table(6).notes if "improved detection" in n.text]
    assert set(note.cells) == {
        (name, row.key, "detection")
        for name, block in published_table(6).blocks.items()
        for row in block.rows.values()
        if row.base
        and row.cells["detection"].value <= block.rows[row.base].cells["detection"].value
    }


def test_logits_that_grew():
    grown = {
        (name, row.key, column)
        for name, block in published_table(8).blocks.items()
        for row in block.rows.values()
        if row.base
        for column, cell in row.cells.items()
        if "logit" in column and abs(cell.value) >= abs(block.rows[row.base].cells[column].value)
    }
    assert grown == {("inbreast", "ce+dice-surgery", "bg_logit_in_fg")}


def test_active_regions_that_the_nll_of_kits_would_need():
    everywhere, active = (published_table(n).blocks["kits"].rows for n in (2, 5))
    share = {
        key: 100 * everywhere[key].cells["nll"].value / active[key].cells["nll"].value
        for key in active
    }
    small = {key: round(value, 2) for key, value in share.items() if value < 0.68}
    assert small == {"dice++": 0.26, "ce+dice": 0.27}
    others = [value for key, value in share.items() if key not in small]
    assert (round(min(others), 2), round(max(others), 1)) == (0.81, 6.5)
