"""``gradsurge figures study`` as a user types it."""

import json

from gradsurge.experiments.study.record import write_record
from tests.experiments.figure_data.records import record, whole_study
from tests.report.figures.files import assert_opens


def test_all_that_the_records_allow_is_drawn_and_the_rest_is_told(run, tmp_path):
    for one in whole_study()[:2]:  # cross-entropy alone
        write_record(tmp_path / "study", one)
    out = tmp_path / "out"
    result = run("figures", "study", tmp_path / "study", "--out", out)
    assert result.returncode == 0, result.stderr
    files = out / "corrections.pdf", out / "corrections.png"
    assert_opens(files)
    why = "no loss has records both as it is and with surgery"
    missing = ("reliability", "shift", "volumes", "detection")
    assert result.stdout.splitlines()[:6] == [
        *map(str, files),
        *(f"isles: left out {name}: {why}" for name in missing),
    ]
    assert "left out exponent: fewer than two exponents" in result.stdout


def test_two_studies_of_a_folder_do_not_mix(run, tmp_path):
    for seed, scale in enumerate(("smoke", "paper")):
        write_record(tmp_path, record("ce", 0.1, seed, scale=scale))
    (tmp_path / "records" / "ce" / "bad.json").write_text("no")
    result = run("figures", "study", tmp_path, "--out", tmp_path / "out", "--json")
    assert result.returncode == 1
    assert "gradsurge: problem: " in result.stderr
    assert "bad.json" in result.stderr
    found = json.loads(result.stdout)
    assert {one["study"] for one in found} == {"isles", "isles, smoke scale"}
    assert {f.name for f in (tmp_path / "out").iterdir()} == {"isles-paper", "isles-smoke"}


def test_a_folder_without_records_is_one_line(run, tmp_path):
    result = run("figures", "study", tmp_path / "nowhere")
    assert (result.returncode, result.stdout) == (1, "")
    (line,) = result.stderr.splitlines()
    assert "no record in records/; make some with gradsurge reproduce" in line
