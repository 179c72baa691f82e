"""Notebooks run from the first cell to the last, and are kept without outputs."""

import json
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parent.parent / "docs").rglob("*.ipynb"))


@pytest.fixture(params=NOTEBOOKS, ids=lambda path: path.stem)
def notebook(request):
    return request.param


def test_there_is_one():
    assert NOTEBOOKS


def test_nothing_is_left_of_an_earlier_run(notebook):
    for cell in json.loads(notebook.read_text())["cells"]:
        assert cell.get("outputs", []) == []
        assert cell.get("execution_count") is None


def test_it_runs(notebook, tmp_path, monkeypatch):
    nbclient = pytest.importorskip("nbclient", reason="no nbclient: pip install 'gradsurge[dev]'")
    pytest.importorskip("ipykernel", reason="no ipykernel: pip install 'gradsurge[dev]'")
    import nbformat

    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    content = nbformat.read(notebook, as_version=4)
    # The machine stands still at times: no limit on the seconds of a cell.
    client = nbclient.NotebookClient(
        content, timeout=None, resources={"metadata": {"path": tmp_path}}
    )
    client.execute()
    printed = "".join(o.get("text", "") for c in content.cells for o in c.get("outputs", []))
    assert "true posterior" in printed
