import json

import pytest

from gradsurge.experiments.search import open_study, read_trials, study_status
from gradsurge.experiments.search.journal_file import remove_half_line

POINTS = [{"a": 1}, {"a": 2}]


@pytest.mark.parametrize("rest", [b'{"op_code":8,"wor', b"{", b"x" * 10_000])
def test_half_a_line_does_not_spoil_a_journal(tmp_path, rest):
    file = tmp_path / "search.journal"
    open_study(str(file), "study", POINTS)
    whole = file.read_bytes()
    file.write_bytes(whole + rest)
    study = open_study(str(file), "study", [*POINTS, {"a": 3}])
    assert [trial.point["a"] for trial in read_trials(study)] == [1, 2, 3]
    assert file.read_bytes().startswith(whole)
    for line in file.read_text().splitlines():
        json.loads(line)


def test_a_file_of_half_a_line_is_empty_then(tmp_path):
    file = tmp_path / "x"
    file.write_bytes(b"x" * 9000)
    remove_half_line(file)
    assert file.read_bytes() == b""
    remove_half_line(file)
    assert file.read_bytes() == b""


@pytest.mark.parametrize("content", [b"my notes", b"PK\x03\x04", b'{"op": 1}\n', b"[1]\n"])
def test_other_files_are_refused_and_left_alone(tmp_path, content):
    file = tmp_path / "notes.txt"
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"notes\.txt is no journal of a search"):
        open_study(str(file), "study", POINTS)
    assert file.read_bytes() == content


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(ValueError, match="is a folder"):
        open_study(str(tmp_path), "study", POINTS)


@pytest.mark.parametrize("line", [b'{"op_code":99,"worker_id":"x"}', b'{"op_code":4}', b"{}", b"?"])
def test_a_damaged_journal_is_told(tmp_path, line):
    file = tmp_path / "search.journal"
    open_study(str(file), "study", POINTS)
    file.write_bytes(file.read_bytes() + line + b"\n" + line + b"\n")
    with pytest.raises(ValueError, match=r"search\.journal: a damaged journal \("):
        open_study(str(file), "study", POINTS)


def test_looking_makes_no_journal(tmp_path):
    with pytest.raises(ValueError, match=r"search\.journal: no such journal"):
        study_status(str(tmp_path / "search.journal"))
    assert not list(tmp_path.iterdir())
