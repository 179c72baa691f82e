"""What is written is what is read, whole or in boxes."""

import pickle
from pathlib import Path

import numpy as np
import pytest

from gradsurge.data import CaseError
from gradsurge.data.store import SourceFile, Stamp, StoredCase, folder_name, write_case
from gradsurge.data.store import locations as locations_module
from gradsurge.data.store.locations import sample_locations
from tests.data.store.fake import GRID, SHAPE, FakeSet, arrays, contents, prepared

STAMP = Stamp({"image": SourceFile("images/a.nii.gz", 10, 20)}, "abc")
POSTERIOR = np.random.default_rng(3).random((2, *SHAPE)).astype(np.float32)
RATER = np.random.default_rng(4).integers(0, 2, SHAPE).astype(np.uint8)


@pytest.fixture
def case(tmp_path):
    extras = {"posterior": POSTERIOR, "second_rater": RATER}
    write_case(tmp_path, prepared(extras=extras), FakeSet(), STAMP)
    return StoredCase(tmp_path / "cases" / folder_name("case 1"), Path("/raw"), ignore_label=9)


def test_facts(case):
    assert case.name == "case 1"
    assert case.shape == SHAPE
    assert case.spacing == (1.0, 1.0, 2.0)
    assert case.grid == GRID
    assert case.extras == ("posterior", "second_rater")
    assert case.source_files == {"image": Path("/raw/images/a.nii.gz")}
    _, label = arrays()
    assert case.foreground == np.isin(label, (1, 2)).sum() / (label != 9).sum()
    assert case.facts.voxels == {n: (label == n).sum() for n in (0, 1, 2, 9)}
    assert case.facts.stamp == STAMP


def test_intensities_are_those_of_numpy(case):
    image, _ = arrays()
    for name, channel in zip(FakeSet.channel_names, image.astype(np.float64), strict=True):
        found = case.facts.intensities[name]
        assert found.mean == pytest.approx(channel.mean(), abs=1e-12)
        assert found.std == pytest.approx(channel.std(), rel=1e-12)
        assert (found.minimum, found.maximum) == (channel.min(), channel.max())
        percentiles = (found.percentile_00_5, found.median, found.percentile_99_5)
        assert percentiles == pytest.approx(np.percentile(channel, (0.5, 50, 99.5)), abs=1e-6)


def test_arrays_come_back(case):
    image, label = arrays()
    np.testing.assert_array_equal(case.read_image(), image)
    np.testing.assert_array_equal(case.read_label(), label)
    np.testing.assert_array_equal(case.read_extra("posterior"), POSTERIOR)
    np.testing.assert_array_equal(case.read_extra("second_rater"), RATER)
    assert case.read_label().flags.writeable


def test_outside_the_image_is_zero_and_the_label_unknown(case):
    image, label = arrays()
    box = [(-3, 5), (30, 40), (0, 18)]
    inside = (slice(3, 8), slice(0, 3), slice(None))
    cut = (slice(0, 5), slice(30, 33), slice(0, 18))
    for found, whole, outside in (
        (case.read_image(box), image, 0),
        (case.read_label(box), label, 9),
        (case.read_extra("posterior", box), POSTERIOR, 0),
    ):
        expected = np.full((*whole.shape[:-3], 8, 10, 18), outside, whole.dtype)
        expected[(..., *inside)] = whole[(..., *cut)]
        np.testing.assert_array_equal(found, expected)


def test_without_an_ignore_label_outside_is_background(case):
    plain = StoredCase(case.folder)
    assert not plain.read_label([(-9, -1), (0, 4), (0, 4)]).any()


def test_locations_lie_in_their_class(case):
    _, label = arrays()
    assert set(case.locations) == {1, 2}  # neither background nor what is ignored
    for number, voxels in case.locations.items():
        assert voxels.dtype == np.uint16
        np.testing.assert_array_equal(voxels, np.argwhere(label == number))


def test_many_locations_are_drawn_evenly_and_alike(monkeypatch):
    monkeypatch.setattr(locations_module, "MOST", 400)
    label = np.zeros((60, 60), np.uint8)
    label[10:50] = 1
    (found,) = sample_locations(label, {1}, "a").values()
    assert len({tuple(v) for v in found.tolist()}) == 400
    assert (label[tuple(found.T)] == 1).all()
    assert abs((found[:, 0] < 30).mean() - 0.5) < 0.1
    np.testing.assert_array_equal(found, sample_locations(label, {1}, "a")[1])
    assert (found != sample_locations(label, {1}, "b")[1]).any()


def test_long_axes_need_wider_numbers():
    label = np.zeros((70_000, 1), np.uint8)
    label[69_999] = 1
    assert sample_locations(label, {1}, "a")[1].tolist() == [[69_999, 0]]


def test_an_empty_label_has_no_location(tmp_path):
    empty = prepared(label=np.zeros(SHAPE, np.uint8))
    facts = write_case(tmp_path, empty, FakeSet(), STAMP)
    case = StoredCase(tmp_path / "cases" / folder_name("case 1"))
    assert case.locations == {}
    assert case.foreground == facts.foreground == 0


def test_it_travels_to_other_processes(case):
    again = pickle.loads(pickle.dumps(case))
    np.testing.assert_array_equal(again.read_label(), case.read_label())


def test_what_is_not_there(case):
    with pytest.raises(ValueError, match="no extra 'probability'; there are: posterior, second"):
        case.read_extra("probability")
    with pytest.raises(ValueError, match="box: expected"):
        case.read_image([(0, 1)])


@pytest.mark.parametrize("content", [None, b"", b"PK\x03\x04", b"\x80\x04K\x01."])
def test_damaged_locations(case, content):
    file = case.folder / "locations.npz"
    file.unlink() if content is None else file.write_bytes(content)
    with pytest.raises(CaseError, match=f"{file}: damaged .*gradsurge prepare"):
        case.check()


@pytest.mark.parametrize(
    "content", [None, "", "{", "[]", '{"format": "gradsurge case", "version": 1}', "\0"]
)
def test_a_damaged_case_file(case, content):
    file = case.folder / "case.json"
    file.unlink() if content is None else file.write_text(content)
    with pytest.raises(CaseError) as caught:
        StoredCase(case.folder)
    assert str(caught.value).startswith(f"{file}: ")
    assert "gradsurge prepare" in str(caught.value)


def test_a_second_writing_gives_the_same_bytes(tmp_path, case):
    before = contents(case.folder)
    extras = {"posterior": POSTERIOR, "second_rater": RATER}
    write_case(tmp_path, prepared(extras=extras), FakeSet(), STAMP)
    assert contents(case.folder) == before
