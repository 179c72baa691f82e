"""Names of users stay text, whatever they hold."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from gradsurge.experiments.evaluation.result import Problem
from gradsurge.report.evaluation import write_report
from gradsurge.report.evaluation.page import render
from tests.report.evaluation.example import example
from tests.report.evaluation.reading import Reading

CASE = "<script>alert(1)</script>"
MODEL = '"><img src=x onerror=alert(1)>'
STRUCTURE = "</script><script>alert(2)</script>\u2028&amp;'"
MESSAGE = "<b onclick='alert(3)'>{{ 7 * 7 }}</b>"


@pytest.fixture(scope="module")
def hostile():
    made = example(
        {MODEL: (1.0, 0.0), "_$x^$ 模型": (2.0, 0.1)},
        cases=3,
        names=(STRUCTURE, "tumour"),
        label_sets=(),
        shape=(4, 20, 20),
        regions=("all",),
    )
    model = made.models[MODEL]
    model.folder = Path("<i>folder</i>")
    model.problems.append(Problem(MODEL, CASE, MESSAGE))
    made.looks = [replace(look, case=CASE, slice_name="<u>slice</u>") for look in made.looks]
    made.provenance["host"] = "<s>host</s>"
    return made


@pytest.fixture(scope="module")
def page(hostile):
    return Reading(render(hostile))


def test_hostile_names_add_no_element(page):
    tags = {tag for tag, _ in page.elements}
    assert tags.isdisjoint({"i", "u", "s"})
    assert len(page.all("script")) == 2
    assert not any(key.startswith("on") for _, a in page.elements for key in a)
    assert all(a["src"].startswith("data:") for a in page.all("img"))


def test_hostile_names_are_shown_as_they_are(page):
    for text in (CASE, MODEL, STRUCTURE, MESSAGE, "<i>folder</i>", "<u>slice</u>", "<s>host</s>"):
        assert text in page.text
    assert "_$x^$ 模型" in page.text
    assert any(CASE in a["alt"] for a in page.all("img"))


def test_data_for_the_script_cannot_end_it(page):
    assert page.data["views"][0]["structure"] == STRUCTURE
    assert not set(page.raw["script"][0]) & set("<>&\u2028")


def test_file_names_that_are_no_text_can_be_written(hostile, tmp_path):
    hostile.models[MODEL].problems.append(Problem(MODEL, os.fsdecode(b"case\xff"), "unreadable"))
    write_report(hostile, tmp_path / "report.html")
    assert "case?" in (tmp_path / "report.html").read_text("utf-8")
