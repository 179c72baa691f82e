"""``gradsurge view`` as a user types it."""

import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request

import numpy as np
import pytest

from gradsurge.cli import view_work
from gradsurge.report.viewer import niivue
from gradsurge.report.viewer.local_server import LocalServer
from tests.experiments.viewing.folders import SHAPE, about, prediction_folder, save
from tests.report.viewer.browsing import needs_niivue

pytestmark = needs_niivue


@pytest.fixture
def folder(tmp_path):
    return prediction_folder(tmp_path)


def one_line(result, code, *words):
    assert (result.returncode, result.stdout) == (code, "")
    (line,) = result.stderr.splitlines()
    assert line.startswith("gradsurge: error: ")
    for word in words:
        assert word in line


def test_one_file_of_two_models(run, folder, tmp_path):
    other = prediction_folder(tmp_path, "other", seed=1)
    out = tmp_path / "new" / "case.html"
    result = run("view", f"ours={folder}", other, "--case", "b", "--html", out)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith(f"Written: {out} (")
    text = out.read_text(encoding="utf-8")
    assert '"case":"b"' in text
    assert '"name":"ours"' in text
    assert '"name":"other"' in text


def test_plain_files(run, tmp_path):
    scan = save(tmp_path / "s.nii.gz", np.ones(SHAPE, np.float32))
    p = save(tmp_path / "p.nii.gz", np.full(SHAPE, 0.5, np.float32))
    label = save(tmp_path / "l.nii.gz", np.ones(SHAPE, np.uint8))
    out = tmp_path / "case.html"
    result = run(
        "view", scan, "--map", f"net={p}", "--mask", label, "--label", label, "--html", out
    )
    assert result.returncode == 0, result.stderr
    assert '"name":"net"' in out.read_text(encoding="utf-8")


def test_what_is_missing_is_a_warning(run, tmp_path):
    folder = prediction_folder(tmp_path, images=False)
    result = run("view", folder, "--html", tmp_path / "case.html")
    assert result.returncode == 0
    assert "gradsurge: warning: no scan" in result.stderr


def test_a_heavy_file_is_a_warning(run, folder, tmp_path, monkeypatch):
    monkeypatch.setattr(view_work, "_HEAVY", 1000)
    result = run("view", folder, "--html", tmp_path / "case.html")
    assert result.stderr.endswith("MB, more than mail usually takes\n")
    told = about(["background", "kidney", "tumour"], "multiclass")
    several = prediction_folder(tmp_path, "several", told=told)
    result = run("view", several, "--html", tmp_path / "case.html")
    assert "takes; --structure leaves maps out" in result.stderr


def test_mistakes_in_usage(run, folder, tmp_path):
    one_line(run("view", tmp_path / "none"), 2, "no such file or folder")
    one_line(run("view", folder, "--html", tmp_path / "case.txt"), 2, "ends in .html")
    one_line(run("view", folder, "--html", tmp_path), 2, "ends in .html")
    one_line(run("view", folder, "--map", tmp_path / "none.nii"), 2, "--map: no such file")
    scan = save(tmp_path / "s.nii.gz", np.ones(SHAPE, np.float32))
    one_line(run("view", scan, folder), 2, "is a scan, which stands alone")
    one_line(run("view", scan, "--scan", scan), 2, "is one already")
    one_line(run("view", f"={folder}"), 2, "expected NAME=PATH")


def test_mistakes_in_what_is_there(run, folder, tmp_path):
    out = ("--html", tmp_path / "case.html")
    one_line(run("view", folder, "--case", "x", *out), 1, "has no 'x'; it has a, b")
    one_line(run("view", folder, folder, *out), 1, "two models are called 'pred'")
    one_line(run("view", tmp_path / "images", *out), 1, "neither predictions.json nor a run")
    one_line(run("view", folder, "--structure", "x", *out), 1, "--structure: there is no 'x'")
    (folder / "a.nii.gz").write_bytes(b"no")
    one_line(run("view", folder, *out), 1, "a.nii.gz")
    assert not (tmp_path / "case.html").exists()


def test_without_ipyniivue_the_install_command_is_told(run, folder, tmp_path, monkeypatch):
    from importlib.metadata import PackageNotFoundError

    def missing(name):
        raise PackageNotFoundError(name)

    niivue.niivue_script.cache_clear()
    monkeypatch.setattr(niivue, "distribution", missing)
    try:
        result = run("view", folder, "--html", tmp_path / "case.html")
    finally:
        niivue.niivue_script.cache_clear()
    one_line(result, 1, "pip install 'gradsurge[view]'")


def test_a_browser_is_not_given_the_token(run, folder, monkeypatch):
    """What it is started with, other users of the machine can read."""
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr(LocalServer, "serve", lambda server: opened.append(server.token))
    result = run("view", folder)
    assert result.returncode == 0
    address, token = opened
    assert token in result.stdout
    assert token not in address
    assert address.startswith("http://127.0.0.1:")


def test_the_local_page_runs_until_ctrl_c(folder):
    code = "from gradsurge.cli import main\nmain()\n"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "view", str(folder), "--no-open"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
    )
    try:
        url = process.stdout.readline().split()[-1]
        assert "Ctrl-C ends it" in process.stdout.readline()
        with urllib.request.urlopen(url) as answer:
            assert b"gradsurge view" in answer.read()
        with pytest.raises(urllib.error.HTTPError, match="403"):
            urllib.request.urlopen(url.replace(url.split("/")[3], "wrong"))
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, error) == (0, "Ended.\n")
