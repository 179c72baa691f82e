"""Saved sketches: equal to the bit, never half a file, never a pickle."""

import io
import zipfile

import numpy as np
import pytest
import torch

from gradsurge.calibration import CalibrationSketch, sketch_file
from gradsurge.calibration.known_cases import KnownCases


def sketch_of(kind):
    z = torch.randn(2, 3 if kind != "binary" else 2, 40) * 4
    y = torch.randint(0, 2, (2, 3, 40) if kind == "multilabel" else (2, 40))
    return CalibrationSketch(kind, z.shape[1], resolution=1000).update_logits(z, y)


@pytest.mark.parametrize("kind", ["binary", "multiclass", "multilabel"])
def test_there_and_back(kind, tmp_path):
    file = tmp_path / "deep" / "er" / "case.npz"
    sketch = sketch_of(kind)
    sketch.save(file)
    loaded = CalibrationSketch.load(file)
    assert loaded == sketch
    assert loaded.ece(20) == sketch.ece(20)
    assert (loaded.kind, loaded.classes) == (kind, sketch.classes)
    assert loaded + loaded == sketch + sketch
    assert isinstance(loaded.joint_nll, float)
    assert isinstance(loaded.histograms[0].clipped, int)


def test_the_cases_come_back(tmp_path):
    sketch = sketch_of("binary")
    sketch.cases = KnownCases({0, 7, 2**64 - 1}, sketch.voxels)
    sketch.save(tmp_path / "a.npz")
    assert CalibrationSketch.load(tmp_path / "a.npz").cases == sketch.cases


def test_a_file_that_names_no_case_knows_none(tmp_path):
    sketch_of("binary").save(tmp_path / "a.npz")
    assert CalibrationSketch.load(tmp_path / "a.npz").cases == KnownCases()
    np.savez(tmp_path / "b.npz", **sketch_file.to_arrays(sketch_of("binary")))
    assert CalibrationSketch.load(tmp_path / "b.npz").cases == KnownCases()


def test_a_string_is_a_path_too_and_the_name_is_kept(tmp_path):
    file = str(tmp_path / "without suffix")
    CalibrationSketch().save(file)
    assert CalibrationSketch.load(file) == CalibrationSketch()


def test_nothing_else_is_left_behind(tmp_path):
    file = tmp_path / "a.npz"
    sketch_of("binary").save(file)
    sketch_of("multiclass").save(file)  # over the first
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.npz"]
    assert CalibrationSketch.load(file).kind == "multiclass"


def test_a_failing_write_leaves_the_old_file(tmp_path, monkeypatch):
    file, sketch = tmp_path / "a.npz", sketch_of("binary")
    sketch.save(file)

    def full_disk(stream, array, **options):
        stream.write(b"half")
        raise OSError("No space left on device")

    monkeypatch.setattr(np.lib.format, "write_array", full_disk)
    with pytest.raises(OSError, match="No space left"):
        sketch_of("multilabel").save(file)
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.npz"]
    assert CalibrationSketch.load(file) == sketch


def with_array(name, value):
    def write(file):
        sketch = sketch_of("binary")
        arrays = sketch_file.to_arrays(sketch) | sketch.cases.to_arrays() | {name: value}
        np.savez(file, **{key: array for key, array in arrays.items() if array is not None})

    return write


def truncated(file):
    sketch_of("binary").save(file)
    file.write_bytes(file.read_bytes()[:-200])


def flipped(file):
    sketch_of("binary").save(file)
    content = bytearray(file.read_bytes())
    content[60:90] = bytes(30)
    file.write_bytes(content)


def one_array(file):
    with file.open("wb") as stream:
        np.save(stream, np.zeros(3))


def foreign_archive(file):
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("counts.npy", b"not an array")
        archive.writestr("notes.txt", b"hello")


class Trap:
    def __reduce__(self):
        return (pytest.fail, ("a pickle was opened",))


def pickled(file):
    arrays = sketch_file.to_arrays(sketch_of("binary"))
    np.savez(file, **(arrays | {"kind": np.array([Trap()], dtype=object)}))


FAULTS = {
    "empty": lambda file: file.write_bytes(b""),
    "text": lambda file: file.write_text("case,ece\n"),
    "truncated": truncated,
    "flipped": flipped,
    "one array": one_array,
    "foreign archive": foreign_archive,
    "pickled": pickled,
    "no counts": with_array("counts", None),
    "no version": with_array("version", None),
    "later version": with_array("version", np.array(2)),
    "odd version": with_array("version", np.array([1, 2])),
    "foreign kind": with_array("kind", np.array("ternary")),
    "too many classes": with_array("classes", np.array(10**12)),
    "many classes": with_array("kind", np.array("multiclass")),
    "huge resolution": with_array("resolution", np.array(10**12)),
    "float counts": with_array("counts", np.zeros((2, 2, 1000))),
    "short counts": with_array("counts", np.zeros((2, 2, 10), np.int64)),
    "few rows": with_array("sums", np.zeros((1, 2, 1000))),
    "scalar": with_array("edges", np.array(0)),
    "other ladder": with_array("ladder", np.zeros(3)),
    "signed cases": with_array("cases", np.array([-1])),
    "a table of cases": with_array("cases", np.zeros((2, 2), np.uint64)),
    "cases without voxels": with_array("cases_voxels", None),
    "fewer voxels than none": with_array("cases_voxels", np.array(-1)),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_is_no_sketch_is_refused_by_name(fault, tmp_path):
    file = tmp_path / "broken.npz"
    FAULTS[fault](file)
    with pytest.raises(ValueError, match=r"broken\.npz: not a calibration sketch") as caught:
        CalibrationSketch.load(file)
    assert "\n" not in str(caught.value)


def test_a_later_version_says_so(tmp_path):
    with_array("version", np.array(7))(tmp_path / "a.npz")
    with pytest.raises(ValueError, match="version 7, this gradsurge reads 1"):
        CalibrationSketch.load(tmp_path / "a.npz")


def test_a_missing_file_is_that(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.npz"):
        CalibrationSketch.load(tmp_path / "none.npz")


def test_the_file_holds_plain_arrays(tmp_path):
    sketch_of("multiclass").save(tmp_path / "a.npz")
    with zipfile.ZipFile(tmp_path / "a.npz") as archive:
        for name in archive.namelist():
            np.load(io.BytesIO(archive.read(name)), allow_pickle=False)
