"""The evidence in docs/results: every table and every number of the README follows from records."""

import importlib.util
import json
import re
from pathlib import PurePath

import pytest

from gradsurge.experiments.recipes import read_recipe
from gradsurge.experiments.study import tables_from_records
from gradsurge.experiments.study.expectations import expectations_of, expectations_page
from gradsurge.experiments.study.kept_records import KeptRecords
from gradsurge.experiments.study.planned_run import PlannedRun
from gradsurge.experiments.study.second_rater import SECOND_RATER
from gradsurge.experiments.study.summary import summary_of
from gradsurge.report.tables import write_table
from tests.documents import ROOT

RESULTS = ROOT / "docs" / "results"
STUDIES = sorted(path.parent for path in RESULTS.glob("*/records"))


@pytest.fixture(params=STUDIES, ids=lambda folder: folder.name)
def study(request):
    return request.param


def test_there_are_studies():
    assert STUDIES


def test_tables_follow_from_records(study, tmp_path):
    recipe = read_recipe(study.name)
    found = tables_from_records(recipe, recipe, study)
    assert found.failures == []
    for table in found.tables:
        for file in write_table(table, tmp_path):
            kept = study / "tables" / file.name
            assert kept.read_text() == file.read_text(), f"{kept}: gradsurge reproduce {study.name}"
    assert (study / "tables" / "summary.md").read_text() == summary_of(recipe, found.records, [])
    page = expectations_page(recipe, expectations_of(found.records, recipe))
    assert (study / "tables" / "expectations.md").read_text() == page


def test_records_answer_their_recipes(study):
    recipe = read_recipe(study.name)
    kept = KeptRecords(recipe, study)
    records = [record for record in kept.all() if record.variant != SECOND_RATER]
    runs = [PlannedRun(recipe.variant(r.variant), r.run, r.point) for r in records]
    assert [r.title for r, record in zip(runs, records, strict=True) if kept.of(r) != record] == []
    assert len(records) > 30


def test_every_table_of_the_recipe_is_there(study):
    recipe = read_recipe(study.name)
    tables = tables_from_records(recipe, recipe, study).tables
    assert len(tables) == len(recipe.tables)
    assert all((study / "tables" / f"{table.name}.md").is_file() for table in tables)


def _overview_script(name):
    file = ROOT / "docs" / "_site" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_readme_shows_what_the_records_say():
    table = _overview_script("results_overview").overview()
    assert table in (ROOT / "README.md").read_text()


def test_the_results_show_how_many_expectations_hold():
    script = _overview_script("expectations_overview")
    checked = script.studies()
    page = (RESULTS / "index.md").read_text()
    for table in (script.by_score(checked), script.by_study(checked)):
        assert table in page, f"not in docs/results/index.md:\n{table}"
        cells = re.findall(r"(\d+) of (\d+)", table)
        assert sum(int(of) for _, of in cells) == sum(map(len, checked.values()))


def test_records_name_no_place_on_the_machine():
    for file in RESULTS.glob("*/records/*/*.json"):
        words = json.loads(file.read_text())["provenance"]["command"].split()
        assert words[:2] == ["gradsurge", "reproduce"]
        assert not any(PurePath(word.rpartition("=")[2]).is_absolute() for word in words), file


def test_the_evidence_is_small():
    size = sum(file.stat().st_size for file in RESULTS.rglob("*") if file.is_file())
    assert size < 20e6
