"""Case names become folders that exist, differ and stay inside."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradsurge.data.store import folder_name

HOSTILE = [
    "..",
    ".",
    ".hidden",
    "../../etc/passwd",
    "/absolute",
    "a/b\\c",
    "<b>x</b>",
    'q"u|e?s*t:ion',
    "new\nline\x00null",
    "trailing ",
    "trailing.",
    "Fälle 例 🧠",
    "%2E%2E",
    "x" * 300,
    "例" * 120,
    "broken \udcff utf-8",
    "-rf",
    ".new-1",
]


@given(st.text(st.characters(exclude_categories=()), min_size=1, max_size=300))
def test_a_folder_name_is_plain(name):
    found = folder_name(name)
    assert found.isascii()
    assert found.isprintable()
    assert not set('/\\:*?"<>|') & set(found)
    assert not found.startswith(".")
    assert not found.endswith((" ", "."))
    assert 0 < len(found) < 256


@given(st.lists(st.text(st.sampled_from("a.%2E /ä"), min_size=1, max_size=6), unique=True))
def test_different_names_give_different_folders(names):
    assert len({folder_name(name) for name in names}) == len(names)


def test_hostile_names_lie_side_by_side(tmp_path):
    for name in HOSTILE:
        (tmp_path / folder_name(name)).mkdir()
    assert len(list(tmp_path.iterdir())) == len(HOSTILE)
    assert {Path(folder_name(name)).parent for name in HOSTILE} == {Path()}


def test_usual_names_stay_as_they_are():
    for name in ("BraTS-MET-00002-000", "hippocampus_001", "Image 01L", "case (1)"):
        assert folder_name(name) == name


def test_no_name():
    with pytest.raises(ValueError, match="without a name"):
        folder_name("")
