"""Opening a store, and what is said when that cannot be done."""

import json
from dataclasses import replace

import numpy as np
import pytest

from gradsurge.data import CaseError
from gradsurge.data.store import Stamp, Store, write_case, write_dataset_file
from gradsurge.data.store.dataset_file import DatasetFile
from gradsurge.data.store.lock import only_writer
from gradsurge.data.store.summary import summarise
from tests.data.store.fake import SHAPE, FakeSet, prepared

FACTS = DatasetFile(
    name="fake",
    dimensions=3,
    channel_names=["first", "second"],
    label_names={0: "background", 1: "organ", 2: "lesion"},
    label_sets={"all": [1, 2]},
    ignore_label=9,
    raw="/raw",
    settings={"factor": 1.0},
    seed=0,
    split_key="",
    splits={"train": ["a", "failed"], "validation": ["b"], "test": []},
    cases={"a": "a", "b": "b", "c": "c"},
    complete=True,
    gradsurge="0.1.0",
    date="2025-01-01T00:00:00+00:00",
)


@pytest.fixture
def folder(tmp_path):
    write_case(tmp_path, prepared("a", 1), FakeSet(), Stamp({}, ""))
    write_case(tmp_path, prepared("b", 2), FakeSet(), Stamp({}, ""))
    empty = np.zeros(SHAPE, np.uint8)
    write_case(tmp_path, prepared("c", 3, label=empty), FakeSet(), Stamp({}, ""))
    write_dataset_file(tmp_path, FACTS)
    return tmp_path


def test_an_opened_store(folder):
    store = Store.open(str(folder))
    assert store.dataset == FACTS
    assert store.cases == ["a", "b", "c"]
    assert store.split("train") == ["a"]  # the failed case is in the plan, not in the store
    assert store.splits == {"train": ["a"], "validation": ["b"], "test": []}
    assert store.case("a") is store.case("a")
    assert store.case("a").read_label([(-1, 0), (0, 1), (0, 1)]).item() == 9


def test_unknown_split_and_case(folder):
    store = Store.open(folder)
    with pytest.raises(ValueError, match="no split 'dev'; there are: train, validation, test"):
        store.split("dev")
    with pytest.raises(ValueError, match="no case 'failed'"):
        store.case("failed")


def test_a_case_that_was_deleted_is_named(folder):
    (folder / "cases" / "b" / "case.json").unlink()
    with pytest.raises(CaseError, match=r"cases/b/case\.json: No such file"):
        Store.open(folder).case("b")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda f: f.unlink(), "not a store: dataset.json: No such file .*; make one with"),
        (lambda f: f.write_text("{"), "dataset.json: damaged"),
        (lambda f: f.write_bytes(b"\xff\xfe"), "dataset.json: damaged"),
        (lambda f: f.write_text("[" * 100_000), "dataset.json: damaged"),
        (lambda f: f.write_text('{"name": "x"}'), "dataset.json: not a gradsurge store"),
        (lambda f: f.write_text("[1]"), "dataset.json: not a gradsurge store"),
        (lambda f: edit(f, version=2), "version 2, this gradsurge reads 1"),
        (lambda f: edit(f, version=None), "version None"),
        (lambda f: edit(f, label_names=[]), "dataset.json: damaged"),
        (lambda f: edit(f, surprise=1), "dataset.json: damaged .*surprise"),
        (lambda f: edit(f, complete=False), "did not finish; run the same gradsurge prepare"),
    ],
)
def test_what_cannot_be_opened(folder, change, words):
    change(folder / "dataset.json")
    with pytest.raises(ValueError, match=words) as caught:
        Store.open(folder)
    assert str(folder) in str(caught.value)
    assert "\n" not in str(caught.value)


def edit(file, **changes):
    file.write_text(json.dumps(json.loads(file.read_text()) | changes))


def test_a_folder_that_is_none(tmp_path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "nowhere", tmp_path / "file"):
        with pytest.raises(ValueError, match="not a store"):
            Store.open(path)


def test_a_summary_counts(folder):
    found = summarise(Store.open(folder), check=True)
    a, b, c = found.cases
    assert [case.split for case in found.cases] == ["train", "validation", None]
    assert c.foreground == 0
    assert a.voxels == dict(Store.open(folder).case("a").facts.voxels)
    train, validation = found.splits  # an empty split has nothing to say
    assert train.foreground == (a.foreground,) * 3
    assert validation.shape == (SHAPE,) * 3
    assert b.spacing == (1.0, 1.0, 2.0)
    assert found.problems == []
    json.dumps(found.to_json(), allow_nan=False)


def test_the_medians_of_a_summary(folder):
    write_dataset_file(folder, replace(FACTS, splits={"train": ["a", "b", "c"]}))
    found = summarise(Store.open(folder))
    (train,) = found.splits
    shares = sorted(case.foreground for case in found.cases)
    assert train.foreground == (shares[0], shares[1], shares[2])
    assert train.empty == 1


def test_a_summary_names_damage_and_goes_on(folder):
    file = folder / "cases" / "b" / "label.b2nd"
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    assert summarise(Store.open(folder)).problems == []
    found = summarise(Store.open(folder), check=True)
    ((case, problem),) = found.problems
    assert case == "b"
    assert str(file) in problem
    assert [row.name for row in found.cases] == ["a", "c"]


def test_one_writer_at_a_time(tmp_path):
    with only_writer(tmp_path):
        second = only_writer(tmp_path)
        with pytest.raises(ValueError, match="another gradsurge prepare is writing"):
            second.__enter__()
    with only_writer(tmp_path):
        pass
