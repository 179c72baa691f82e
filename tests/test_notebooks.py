"""Notebooks run from the first cell to the last, and are kept without outputs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

# The machine stands still at times: no limit on the seconds of a cell.
_EXECUTE = """
import sys
import nbclient, nbformat
content = nbformat.read(sys.argv[1], as_version=4)
nbclient.NotebookClient(content, timeout=None).execute()
nbformat.write(content, sys.argv[2])
"""
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


def test_it_runs(notebook, tmp_path):
    pytest.importorskip("nbclient", reason="no nbclient: pip install 'gradsurge[dev]'")
    pytest.importorskip("ipykernel", reason="no ipykernel: pip install 'gradsurge[dev]'")
    # In a process of its own: the client leaves an event loop and its sockets to the collector.
    subprocess.run(
        [sys.executable, "-c", _EXECUTE, notebook, tmp_path / "done.ipynb"],
        cwd=tmp_path,
        env={**os.environ, "MPLBACKEND": "agg", "IPYTHONDIR": str(tmp_path)},
        check=True,
    )
    cells = json.loads((tmp_path / "done.ipynb").read_text())["cells"]
    printed = [line for c in cells for o in c.get("outputs", []) for line in o.get("text", [])]
    assert "true posterior" in "".join(printed)
