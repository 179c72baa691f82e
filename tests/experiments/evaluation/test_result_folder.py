"""Results take the place of older ones only when all went well."""

import pytest

from gradsurge.experiments.evaluation.result_folder import (
    RESULTS,
    foreign_in,
    new_results,
    results_in,
)


def fill(folder, text):
    for name in RESULTS[:-1]:
        (folder / name).write_text(text)
    (folder / "sketches" / text).mkdir(parents=True)


def fill_and_fail(folder, error):
    fill(folder, "new")
    raise error


def content(folder):
    return {
        str(f.relative_to(folder)): f.read_text() if f.is_file() else None
        for f in sorted(folder.rglob("*"))
    }


def written(text):
    return dict.fromkeys(RESULTS[:-1], text) | {"sketches": None, f"sketches/{text}": None}


def test_new_results_replace_old_ones_and_nothing_else(tmp_path):
    fill(tmp_path, "old")
    (tmp_path / "notes.txt").write_text("mine")
    with new_results(tmp_path) as folder:
        fill(folder, "new")
        assert content(tmp_path) | written("old") == content(tmp_path)  # all still there
    assert content(tmp_path) == written("new") | {"notes.txt": "mine"}


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_failure_leaves_old_results(tmp_path, error):
    fill(tmp_path, "old")
    with pytest.raises(error), new_results(tmp_path) as folder:
        fill_and_fail(folder, error)
    assert content(tmp_path) == written("old")


def test_a_failure_leaves_no_empty_folder(tmp_path):
    with pytest.raises(ValueError, match="bad"), new_results(tmp_path / "a"):
        raise ValueError("bad")
    assert content(tmp_path) == {}
    with new_results(tmp_path / "a") as folder:
        fill(folder, "new")
    assert content(tmp_path / "a") == written("new")


def test_a_linked_folder_is_replaced_not_emptied(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    fill(tmp_path / "elsewhere", "x")
    out = tmp_path / "out"
    out.mkdir()
    (out / "metrics.json").write_text("old")
    (out / "sketches").symlink_to(tmp_path / "elsewhere")
    with new_results(out) as folder:
        fill(folder, "new")
    assert content(out) == written("new")
    assert content(tmp_path / "elsewhere") == written("x")


def test_whose_results_there_are(tmp_path):
    assert results_in(tmp_path / "nowhere") == foreign_in(tmp_path / "nowhere") == []
    (tmp_path / "sketches").mkdir()
    assert results_in(tmp_path) == foreign_in(tmp_path) == ["sketches"]
    (tmp_path / "metrics.json").write_text("{}")
    assert results_in(tmp_path) == ["metrics.json", "sketches"]
    assert foreign_in(tmp_path) == []
