"""Cases come whole or not at all."""

import dataclasses
import errno

import numpy as np
import pytest

from gradsurge.data import CaseError
from gradsurge.data.store import (
    Stamp,
    StoredCase,
    array_file,
    folder_name,
    is_current,
    remove_case,
    remove_others,
    write_case,
    writing,
)
from tests.data.store.fake import SHAPE, FakeSet, arrays, contents, prepared
from tests.data.store.test_folder_names import HOSTILE

STAMP = Stamp({}, "settings")
IMAGE, LABEL = arrays()


def with_value(array, value):
    changed = array.copy()
    changed.flat[5] = value
    return changed


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"image": IMAGE.astype(np.float64)}, "float32 image and a uint8 label, got float64"),
        ({"label": LABEL.astype(np.int64)}, "got float32 and int64"),
        ({"image": IMAGE[:1]}, r"2 channels .* got image \(1, 20, 33, 18\)"),
        ({"label": LABEL[:-1]}, "got image .* and label"),
        ({"image": IMAGE[:, 0], "label": LABEL[0]}, "3 axes"),
        ({"image": IMAGE[..., :0], "label": LABEL[..., :0]}, "3 axes"),
        ({"spacing": (1.0, 1.0)}, "spacing above 0 along 3 axes"),
        ({"spacing": (1.0, 1.0, 0.0)}, "spacing above 0"),
        ({"spacing": (1.0, 1.0, float("nan"))}, "spacing above 0"),
        ({"image": with_value(IMAGE, np.nan)}, "NaN or infinite"),
        ({"image": with_value(IMAGE, -np.inf)}, "NaN or infinite"),
        ({"label": with_value(LABEL, 7)}, r"undeclared values \[7\]; .*declares \[0, 1, 2\]"),
        ({"extras": {"image": LABEL}}, "named 'image'"),
        ({"extras": {"../x": LABEL}}, "named '../x'"),
        ({"extras": {"more": LABEL[1:]}}, "extra more: expected a shape that ends in"),
        ({"extras": {"more": LABEL.astype(str)}}, "extra more: expected numbers"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path, fields, words):
    with pytest.raises(CaseError, match=words):
        write_case(tmp_path, prepared(**fields), FakeSet(), STAMP)
    assert contents(tmp_path) == {}


@pytest.mark.parametrize("step", ["write_array", "write_locations", "write_case_file"])
def test_a_failure_leaves_the_old_case_alone(tmp_path, monkeypatch, step):
    write_case(tmp_path, prepared(), FakeSet(), STAMP)
    before = contents(tmp_path)

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(writing, step, full)
    with pytest.raises(OSError, match="No space"):
        write_case(tmp_path, prepared(seed=1), FakeSet(), STAMP)
    assert contents(tmp_path) == before
    assert len(list((tmp_path / "cases").iterdir())) == 1


def test_a_case_is_replaced_as_a_whole(tmp_path):
    write_case(tmp_path, prepared(extras={"more": LABEL}), FakeSet(), STAMP)
    write_case(tmp_path, prepared(seed=1), FakeSet(), STAMP)
    case = StoredCase(tmp_path / "cases" / folder_name("case 1"))
    np.testing.assert_array_equal(case.read_image(), arrays(1)[0])
    assert case.extras == ()
    assert not (case.folder / "more.b2nd").exists()


def test_any_name_is_stored_and_found_again(tmp_path):
    small = {"image": IMAGE[:, :3, :3, :3], "label": LABEL[:3, :3, :3]}
    for name in HOSTILE:
        write_case(tmp_path / "store", prepared(name, **small), FakeSet(), STAMP)
        assert is_current(tmp_path / "store", name, STAMP)
        assert StoredCase(tmp_path / "store" / "cases" / folder_name(name)).name == name
    assert [p.name for p in tmp_path.iterdir()] == ["store"]
    assert remove_others(tmp_path / "store", HOSTILE) == []
    assert sorted(remove_others(tmp_path / "store", HOSTILE[:1])) == sorted(HOSTILE[1:])


def test_current_is_whole_and_made_of_the_same(tmp_path):
    folder = tmp_path / "cases" / folder_name("case 1")
    assert not is_current(tmp_path, "case 1", STAMP)
    write_case(tmp_path, prepared(), FakeSet(), STAMP)
    assert is_current(tmp_path, "case 1", STAMP)
    assert not is_current(tmp_path, "case 1", dataclasses.replace(STAMP, settings="other"))
    for file in list(folder.iterdir()):
        content = file.read_bytes()
        file.write_bytes(content[:-2])
        assert not is_current(tmp_path, "case 1", STAMP), file
        file.unlink()
        assert not is_current(tmp_path, "case 1", STAMP), file
        file.write_bytes(content)
    assert is_current(tmp_path, "case 1", STAMP)


def test_leftovers_of_a_killed_run_go_and_other_files_stay(tmp_path):
    write_case(tmp_path, prepared("a"), FakeSet(), STAMP)
    write_case(tmp_path, prepared("b"), FakeSet(), STAMP)
    for leftover in (".new-123", ".old-456"):
        (tmp_path / "cases" / leftover).mkdir()
        (tmp_path / "cases" / leftover / "image.b2nd").write_bytes(b"half")
    (tmp_path / ".dataset.json.99").write_text("{")
    (tmp_path / "cases" / "my notes").mkdir()
    (tmp_path / "cases" / "my notes" / "note.txt").write_text("mine")
    assert remove_others(tmp_path, ["a"]) == ["b"]
    assert {p.name for p in (tmp_path / "cases").iterdir()} == {"a", "my notes"}
    assert {p.name for p in tmp_path.iterdir()} == {"cases"}


def test_removing_a_case_twice(tmp_path):
    write_case(tmp_path, prepared(), FakeSet(), STAMP)
    remove_case(tmp_path, "case 1")
    remove_case(tmp_path, "case 1")
    assert contents(tmp_path) == {}


def test_the_size_on_disk_is_recorded(tmp_path):
    facts = array_file.write_array(tmp_path / "a", np.zeros(SHAPE, np.uint8), 3)
    assert facts.bytes == (tmp_path / "a").stat().st_size < np.prod(SHAPE)
