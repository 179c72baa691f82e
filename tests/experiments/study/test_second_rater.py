"""The second rater of CHASE_DB1 as a row, against numbers by hand.

Every first label is four of 48 rows, every second one the same, a row lower.
"""

from dataclasses import replace

import pytest

from gradsurge.data import CaseError
from gradsurge.data.datasets import Chase
from gradsurge.experiments.recipes import DataPart
from gradsurge.experiments.study.record import read_records
from gradsurge.experiments.study.second_rater import (
    SECOND_RATER,
    keep_second_rater,
    kept_second_rater,
    measure_second_rater,
)
from gradsurge.experiments.study.tables import tables_of
from tests.data.datasets import trees
from tests.experiments.prediction.fakes import store_of
from tests.experiments.runs.stores import disc_store
from tests.experiments.study.records import recipe, record

PAIR = ("dice", "dice-surgery")
WRONG = 2 / 48


def chase_recipe(profile="foreground"):
    made = recipe(PAIR, {"1": PAIR, "4": PAIR, "corrections": PAIR, "8": PAIR}, profile)
    return replace(made, data=DataPart("chase", {"shrink": 2}))


@pytest.fixture
def raw(tmp_path):
    return trees.chase(tmp_path / "raw")


@pytest.mark.parametrize("shrink", [1, 2])
def test_two_raters_on_the_pixels_of_the_source(raw, tmp_path, shrink):
    found = measure_second_rater(store_of(raw, tmp_path / "store", Chase(shrink)))
    assert found.dice["plain"] == {"vessel": pytest.approx(0.75)}
    assert found.by_case["none"]["all"]["dice"] == [0.75] * len(found.cases)
    for scores in (found.pooled, found.means):
        everywhere = scores["none"]["all"]["vessel"]
        assert everywhere["brier"] == pytest.approx(WRONG)
        assert everywhere["ece"] == pytest.approx(WRONG)  # 1 / 48 in the first bin and in the last
        assert everywhere["mce"] == pytest.approx(1 / 4)
        assert scores["none"]["active"]["vessel"]["brier"] == pytest.approx(2 / 5)
        assert everywhere["nll"] == float("inf")


def test_the_row_takes_no_part_and_is_kept(raw, tmp_path):
    made, store = chase_recipe(), store_of(raw, tmp_path / "store", Chase(2))
    keep_second_rater(made, tmp_path, store)
    kept = kept_second_rater(made, tmp_path)
    assert [one.variant for one in read_records(tmp_path)[0]] == [SECOND_RATER]
    records = [*map(record, PAIR), kept]
    for name in ("1", "corrections"):
        table = tables_of(records, made, name)
        (row,) = table.blocks[-1].rows
        assert (row.key, row.title) == (SECOND_RATER, "Second rater")
        shown = {column: cell.value for column, cell in row.cells.items()}
        assert shown["dsc"] == pytest.approx(75.0)
        assert shown["brier"] == pytest.approx(WRONG, rel=1e-5)
        assert shown["nll"] is None
        assert "own_dsc" not in shown
        assert all(r.key != SECOND_RATER for r in table.blocks[0].rows)
        assert "Second rater: another person's labels" in table.caption
    assert len(tables_of(records, made, "8").blocks) == 1
    assert "Second rater" not in tables_of(records[:2], made, "1").caption


def test_it_is_measured_once(raw, tmp_path):
    made, store = chase_recipe(), store_of(raw, tmp_path / "store", Chase(2))
    keep_second_rater(made, tmp_path, store)
    file = tmp_path / "records" / SECOND_RATER / "labels.json"
    before = file.stat().st_mtime_ns
    keep_second_rater(made, tmp_path, store)
    assert file.stat().st_mtime_ns == before
    other = replace(made, data=DataPart("chase", {"shrink": 4}))
    assert kept_second_rater(other, tmp_path) is None
    file.write_text("{")
    assert kept_second_rater(made, tmp_path) is None


def test_other_data_have_none(tmp_path):
    keep_second_rater(chase_recipe(), tmp_path, disc_store(tmp_path / "store"))
    assert not (tmp_path / "records").exists()


def test_a_label_of_another_size(raw, tmp_path):
    store = store_of(raw, tmp_path / "store", Chase(2))
    for file in (raw / "2nd_manual").iterdir():
        trees.write_picture(file, trees.disc((20, 20), 5))
    with pytest.raises(CaseError, match=r"_2ndHO.png: has shape \(20, 20\)"):
        keep_second_rater(chase_recipe(), tmp_path, store)
