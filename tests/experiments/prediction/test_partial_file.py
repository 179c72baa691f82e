import pytest

from gradsurge.experiments.prediction.partial_file import remove_partial, whole_files


def _interrupted(one, two):
    with whole_files(one, two) as (first, second):
        first.write_bytes(b"new")
        second.write_bytes(b"half")
        raise KeyboardInterrupt


def test_all_or_nothing(tmp_path):
    one, two = tmp_path / "a.bin", tmp_path / "sub" / "b.bin"
    one.write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt):
        _interrupted(one, two)
    assert one.read_bytes() == b"old"
    assert [f.name for f in tmp_path.rglob("*") if f.is_file()] == ["a.bin"]
    with whole_files(one, two) as (first, second):
        first.write_bytes(b"new")
        second.write_bytes(b"whole")
        assert one.read_bytes() == b"old"
    assert (one.read_bytes(), two.read_bytes()) == (b"new", b"whole")


def test_leftovers_of_a_killed_run_go(tmp_path):
    (tmp_path / ".a.nii.gz.partial").write_bytes(b"half")
    (tmp_path / "b.nii.gz").write_bytes(b"whole")
    remove_partial(tmp_path)
    assert [f.name for f in tmp_path.iterdir()] == ["b.nii.gz"]
