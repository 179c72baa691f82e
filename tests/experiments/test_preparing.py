"""A store brought up to date with its raw folder, whatever happens on the way."""

import errno
import json
import os
import shutil
import subprocess
from itertools import chain
from pathlib import Path

import numpy as np
import pytest

from gradsurge.data.datasets import Found, RawCase
from gradsurge.data.datasets.phantom_set import PhantomSet
from gradsurge.data.phantoms import make_phantom
from gradsurge.data.store import Store, only_writer, write_case
from gradsurge.experiments import prepare_case, prepare_outcomes, preparing
from gradsurge.experiments.preparation import DiskFull, NothingToPrepare
from gradsurge.experiments.preparing import prepare
from tests.data.store.fake import FakeSet, add_raw, arrays, contents, times

NAMES = ["a", "b", "c", "d", "e"]


@pytest.fixture
def raw(tmp_path):
    for seed, name in enumerate(NAMES):
        add_raw(tmp_path / "raw", name, seed)
    return tmp_path / "raw"


@pytest.fixture
def out(tmp_path):
    return tmp_path / "store"


def without_date(store: Path) -> dict:
    content = json.loads((store / "dataset.json").read_text())
    return {key: value for key, value in content.items() if key not in ("date", "raw")}


def test_a_new_store(raw, out):
    tasks, seen = [], []
    found = prepare(FakeSet(), raw, out, on_tasks=tasks.append, on_case=seen.append)
    assert found.prepared == NAMES
    assert (found.unchanged, found.removed, found.failures) == ([], [], [])
    assert tasks == [5]
    assert [outcome.case for outcome in seen] == NAMES
    store = Store.open(out)
    assert store.cases == NAMES
    for seed, name in enumerate(NAMES):
        np.testing.assert_array_equal(store.case(name).read_image(), arrays(seed)[0])
        assert store.case(name).source_files["label"] == raw / f"{name}.label.npy"
    assert sorted(chain(*store.splits.values())) == NAMES
    assert store.dataset.raw == str(raw)
    assert store.dataset.settings == {"factor": 1.0}


def test_a_second_run_touches_nothing(raw, out):
    prepare(FakeSet(), raw, out)
    before = times(out)
    again = FakeSet()
    found = prepare(again, raw, out)
    assert found.unchanged == NAMES
    assert found.prepared == []
    assert times(out) == before
    assert again.splits_made == 0


def test_only_the_changed_case_is_redone(raw, out):
    prepare(FakeSet(), raw, out)
    splits = Store.open(out).splits
    add_raw(raw, "b", seed=77)
    found = prepare(FakeSet(), raw, out)
    assert found.prepared == ["b"]
    assert found.unchanged == ["a", "c", "d", "e"]
    np.testing.assert_array_equal(Store.open(out).case("b").read_image(), arrays(77)[0])
    assert Store.open(out).splits == splits


def test_a_changed_setting_redoes_all(raw, out):
    prepare(FakeSet(), raw, out)
    assert prepare(FakeSet(factor=2.0), raw, out).prepared == NAMES
    store = Store.open(out)
    np.testing.assert_array_equal(store.case("a").read_image(), 2 * arrays(0)[0])
    assert store.dataset.settings == {"factor": 2.0}


def test_a_damaged_or_deleted_case_is_redone(raw, out):
    prepare(FakeSet(), raw, out)
    before = contents(out / "cases")
    (out / "cases" / "a" / "image.b2nd").write_bytes(b"short")
    shutil.rmtree(out / "cases" / "c")
    assert prepare(FakeSet(), raw, out).prepared == ["a", "c"]
    assert contents(out / "cases") == before


def test_cases_that_vanish_are_removed_and_others_come(raw, out):
    prepare(FakeSet(), raw, out)
    (raw / "a.image.npy").unlink()
    add_raw(raw, "f")
    found = prepare(FakeSet(), raw, out)
    assert found.removed == ["a"]
    assert found.prepared == ["f"]
    store = Store.open(out)
    assert store.cases == ["b", "c", "d", "e", "f"]
    assert sorted(chain(*store.splits.values())) == store.cases
    assert not (out / "cases" / "a").exists()


def test_a_raw_folder_may_move(raw, out, tmp_path):
    prepare(FakeSet(), raw, out)
    moved = raw.rename(tmp_path / "elsewhere")
    found = prepare(FakeSet(), moved, out)
    assert found.unchanged == NAMES
    assert Store.open(out).case("a").source_files["image"] == moved / "a.image.npy"


def test_splits_change_with_the_seed_only(raw, out):
    prepare(FakeSet(), raw, out, seed=0)
    first = Store.open(out).splits
    prepare(FakeSet(factor=3.0), raw, out, seed=0)
    assert Store.open(out).splits == first
    found = prepare(FakeSet(factor=3.0), raw, out, seed=1)
    assert found.unchanged == NAMES
    assert Store.open(out).splits == FakeSet().split(FakeSet().find(raw).cases, 1) != first
    assert Store.open(out).dataset.seed == 1


def test_failures_are_listed_and_the_rest_prepared(raw, out):
    np.save(raw / "b.image.npy", np.zeros((2, 4, 4, 4), np.float32))
    np.save(raw / "c.label.npy", np.full(arrays()[1].shape, 5, np.uint8))
    (raw / "d.label.npy").unlink()
    (raw / "e.label.npy").write_bytes(b"\x93NUMPY, but cut")
    found = prepare(FakeSet(), raw, out)
    assert found.prepared == ["a"]
    problems = dict(found.failures)
    assert set(problems) == {"b", "c", "d", "e"}
    assert str(raw / "b.image.npy") in problems["b"]
    assert "undeclared values [5]" in problems["c"]
    assert problems["d"] == "has no label; add one"
    assert not any("\n" in problem for problem in problems.values())
    assert json.loads((out / "failures.json").read_text()) == [
        {"case": case, "problem": problem} for case, problem in found.failures
    ]
    store = Store.open(out)
    assert store.cases == ["a"]
    assert sum(map(len, store.splits.values())) == 1


def test_a_repaired_case_comes_back_to_its_split(raw, out):
    prepare(FakeSet(), raw, out)
    whole = without_date(out)
    image = (raw / "b.image.npy").read_bytes()
    np.save(raw / "b.image.npy", np.zeros((2, 4, 4, 4), np.float32))
    assert dict(prepare(FakeSet(), raw, out).failures).keys() == {"b"}
    assert not (out / "cases" / "b").exists()  # that of the earlier file is not left for training
    (raw / "b.image.npy").write_bytes(image)
    assert prepare(FakeSet(), raw, out).prepared == ["b"]
    assert without_date(out) == whole
    assert not (out / "failures.json").exists()


class Twice(FakeSet):
    """Lists its first case twice."""

    def find(self, raw):
        cases = super().find(raw).cases
        return Found([*cases, RawCase("a", "a", {})])


def test_two_cases_of_one_name(raw, out):
    found = prepare(Twice(), raw, out)
    assert found.prepared == NAMES
    assert found.failures == [("a", "another case has the same name; rename one")]


def test_a_file_that_goes_while_we_look(raw, out, monkeypatch):
    class Gone(FakeSet):
        def find(self, raw):
            found = super().find(raw)
            (raw / "c.image.npy").unlink()
            return found

    ((case, problem),) = prepare(Gone(), raw, out).failures
    assert case == "c"
    assert problem == f"{raw / 'c.image.npy'}: No such file or directory"


def test_a_raw_folder_without_cases_removes_nothing(raw, out, tmp_path):
    prepare(FakeSet(), raw, out)
    before = times(out)
    (tmp_path / "empty").mkdir()
    with pytest.raises(NothingToPrepare, match="empty: no case found"):
        prepare(FakeSet(), tmp_path / "empty", out)
    assert times(out) == before


def test_a_folder_of_something_else_is_left_alone(raw, out, tmp_path):
    prepare(FakeSet(), raw, out)
    before = times(out)
    with pytest.raises(ValueError, match="holds the data set fake; choose another folder for les"):
        prepare(PhantomSet("lesions-2d", 1), Path(), out)
    add_raw(tmp_path / "other", "z")
    with pytest.raises(ValueError, match=r"holds other cases \(a, ...\)"):
        prepare(FakeSet(), tmp_path / "other", out)
    assert times(out) == before
    with pytest.raises(ValueError, match=r"no store, but holds a\.image\.npy; choose a new"):
        prepare(FakeSet(), raw, raw)
    (tmp_path / "file").write_text("")
    with pytest.raises(ValueError, match="expected a folder, got a file"):
        prepare(FakeSet(), raw, tmp_path / "file")


def test_a_damaged_dataset_file(raw, out):
    prepare(FakeSet(), raw, out)
    whole = without_date(out)
    (out / "dataset.json").write_text("{")
    with pytest.raises(ValueError, match=r"dataset\.json: damaged .*delete that file and run"):
        prepare(FakeSet(), raw, out)
    (out / "dataset.json").unlink()
    assert prepare(FakeSet(), raw, out).unchanged == NAMES
    assert without_date(out) == whole


def test_a_description_that_is_not_ours_is_never_to_be_deleted(raw, out):
    out.mkdir()
    (out / "dataset.json").write_text('{"channel_names": {"0": "CT"}}')
    with pytest.raises(ValueError, match=r"not a gradsurge store; choose another folder$"):
        prepare(FakeSet(), raw, out)


@pytest.mark.parametrize("place", [".", "sub/store", ".."])
def test_a_store_and_its_raw_folder_are_kept_apart(raw, place, monkeypatch):
    # What else lies there would be refused first.
    monkeypatch.setattr(preparing, "check_room", lambda *_: None)
    before = contents(raw.parent)
    with pytest.raises(ValueError, match=r"must not lie in the raw folder .*choose another"):
        prepare(FakeSet(), raw, raw / place)
    assert contents(raw.parent) == before


def test_failures_are_listed_though_no_case_is_found(tmp_path, out):
    add_raw(tmp_path / "raw", "a")
    (tmp_path / "raw" / "a.label.npy").unlink()
    with pytest.raises(NothingToPrepare):
        prepare(FakeSet(), tmp_path / "raw", out)
    listed = [{"case": "a", "problem": "has no label; add one"}]
    assert json.loads((out / "failures.json").read_text()) == listed
    add_raw(tmp_path / "raw", "a")
    assert prepare(FakeSet(), tmp_path / "raw", out).prepared == ["a"]
    assert not (out / "failures.json").exists()


def test_processes_are_started_where_they_pay(raw, out, monkeypatch):
    asked = []

    def noted(function, tasks, jobs, dask):
        asked.append((len(tasks), jobs, dask))
        yield from map(function, tasks)

    monkeypatch.setattr(prepare_outcomes, "each_in_order", noted)
    assert prepare(FakeSet(), raw, out, jobs=4).prepared == NAMES
    monkeypatch.setattr(prepare_outcomes, "_START", 0.0)
    assert prepare(FakeSet(2.0), raw, out, jobs=4).prepared == NAMES
    assert prepare(FakeSet(3.0), raw, out, jobs=4, dask="tcp://there").prepared == NAMES
    assert asked == [(3, 1, None), (3, 4, None), (5, 4, "tcp://there")]


def test_two_at_once(raw, out):
    out.mkdir()
    with only_writer(out), pytest.raises(ValueError, match="another gradsurge prepare"):
        prepare(FakeSet(), raw, out)


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_stops_and_the_next_run_goes_on(raw, out, tmp_path, monkeypatch, error):
    prepare(FakeSet(), raw, tmp_path / "unbroken")
    written = []

    def until_full(*args):
        written.append(args)
        if len(written) > 2:
            raise OSError(error, os.strerror(error))
        return write_case(*args)

    with monkeypatch.context() as patch:
        patch.setattr(prepare_case, "write_case", until_full)
        with pytest.raises(DiskFull, match="the disk is full, 2 more cases were stored; make room"):
            prepare(FakeSet(), raw, out)
    assert len(written) == 3
    (listed,) = json.loads((out / "failures.json").read_text())
    assert listed == {"case": "c", "problem": os.strerror(error)}
    with pytest.raises(ValueError, match="did not finish"):
        Store.open(out)
    found = prepare(FakeSet(), raw, out)
    assert found.unchanged == ["a", "b"]
    assert contents(out / "cases") == contents(tmp_path / "unbroken" / "cases")
    assert without_date(out) == without_date(tmp_path / "unbroken")


def test_no_room_even_for_the_description(raw, out, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(preparing, "write_dataset_file", full)
    with pytest.raises(DiskFull, match="the disk is full, 0 more"):
        prepare(FakeSet(), raw, out)


@pytest.fixture
def tiny_disk(tmp_path):
    folder = tmp_path / "tiny"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=300k", "tmpfs", str(folder)]
    if (
        not shutil.which("mount")
        or subprocess.run(command, check=False, stderr=subprocess.DEVNULL).returncode
    ):
        pytest.skip("mounting a small disk is not permitted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_disk_that_is_really_full(raw, tiny_disk):
    with pytest.raises(DiskFull, match="the disk is full"):
        prepare(FakeSet(), raw, tiny_disk / "store", jobs=1)
    stored = list((tiny_disk / "store" / "cases").iterdir())
    assert 0 < len(stored) < 5
    assert all((f / "case.json").is_file() and not f.name.startswith(".") for f in stored)
    with pytest.raises(ValueError, match="did not finish"):
        Store.open(tiny_disk / "store")


def test_another_write_error_is_that_case_s(raw, out, monkeypatch):
    def refused(store, case, *rest):
        if case.name == "b":
            raise PermissionError(errno.EACCES, "Permission denied", str(store / "cases"))
        return write_case(store, case, *rest)

    monkeypatch.setattr(prepare_case, "write_case", refused)
    found = prepare(FakeSet(), raw, out)
    assert found.failures == [("b", f"{out / 'cases'}: Permission denied")]


def test_a_case_too_large_for_the_memory(raw, out, monkeypatch):
    class Huge(FakeSet):
        def load(self, case):
            raise MemoryError

    assert "memory" in prepare(Huge(), raw, out).failures[0][1]


def test_processes_write_the_same(raw, out, tmp_path):
    prepare(FakeSet(), raw, tmp_path / "one")
    prepare(FakeSet(), raw, tmp_path / "two", jobs=2)
    assert contents(tmp_path / "two" / "cases") == contents(tmp_path / "one" / "cases")
    assert without_date(tmp_path / "two") == without_date(tmp_path / "one")


def test_relative_folders(raw, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    prepare(FakeSet(), Path("raw"), Path("store"))
    monkeypatch.chdir("/")
    assert Store.open(tmp_path / "store").case("a").source_files["image"].exists()
    assert prepare(FakeSet(), raw, tmp_path / "store").unchanged == NAMES


def test_phantoms_with_their_posterior(tmp_path):
    prepare(PhantomSet("organs-3d", 6, (24, 20, 16), seed=5), Path(), tmp_path)
    store = Store.open(tmp_path)
    assert store.dataset.raw is None
    assert store.dataset.label_names == {0: "background", 1: "front", 2: "back"}
    assert list(map(len, store.splits.values())) == [4, 1, 1]
    case, made = store.case(store.cases[3]), make_phantom("organs-3d", 3, 5, (24, 20, 16))
    assert case.name == made.name
    np.testing.assert_array_equal(case.read_image(), made.image)
    np.testing.assert_array_equal(case.read_label(), made.label)
    np.testing.assert_array_equal(case.read_extra("posterior"), made.posterior)
    assert case.spacing == made.spacing
    assert case.grid is None
    assert case.source_files == {}


def test_more_phantoms_move_no_case_to_another_split(tmp_path):
    prepare(PhantomSet("lesions-2d", 4, (16, 16)), Path(), tmp_path)
    before = Store.open(tmp_path).splits
    found = prepare(PhantomSet("lesions-2d", 9, (16, 16)), Path(), tmp_path)
    assert len(found.prepared) == 5
    for split, names in Store.open(tmp_path).splits.items():
        assert names[: len(before[split])] == before[split]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("lesions-4d", 1), "unknown 'lesions-4d'; known: lesions-2d"),
        (("lesions-2d", 0), "cases: expected at least 1, got 0"),
        (("lesions-2d", 1, (16,)), "has 2 axes of at least 16 voxels, got 16"),
        (("lesions-3d", 1, (16, 16, 15)), "3 axes of at least 16 voxels, got 16,16,15"),
    ],
)
def test_phantoms_that_cannot_be(arguments, words):
    with pytest.raises(ValueError, match=words):
        PhantomSet(*arguments)


def test_another_fold_gives_other_splits(raw, out):
    class Folded(FakeSet):
        fold = 0

        @property
        def split_settings(self):
            return {"fold": self.fold}

        def split(self, cases, seed):
            return super().split(cases, seed + self.fold)

    prepare(Folded(), raw, out)
    first = Store.open(out).splits
    other = Folded()
    other.fold = 1
    assert prepare(other, raw, out).unchanged == NAMES
    assert Store.open(out).splits != first
