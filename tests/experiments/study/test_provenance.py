"""Where numbers come from."""

import pytest

from gradsurge.experiments.study import provenance, reproduce, with_rows
from tests.experiments.study.tiny import Told, tiny_recipe, tiny_site


@pytest.fixture
def head(monkeypatch):
    """What git tells of the sources; change it as somebody who commits would."""
    told = {"rev-parse": "before", "status": ""}
    monkeypatch.setattr(provenance, "_git", lambda _, word, *__: told.get(word, ""))
    provenance.commit.cache_clear()
    yield told
    provenance.commit.cache_clear()


def test_records_tell_the_commit_that_runs(head, tmp_path):
    class Commits(Told):
        def training(self, name):
            head["rev-parse"] = "after"

    recipe = tiny_recipe(tmp_path, scale="small")
    site = tiny_site(recipe, tmp_path / "out", Commits())
    done = reproduce(site, with_rows(recipe, ["1"], ["dice"]))
    assert [record.provenance["commit"] for record in done.records] == ["before"]


def test_changed_sources_are_marked(head):
    head["status"] = " M file.py"
    assert provenance.commit() == "before+"
