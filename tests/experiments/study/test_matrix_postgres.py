"""A study whose searches are kept in a real PostgreSQL."""

from gradsurge.experiments.search.folder_mark import name_ending
from gradsurge.experiments.search.status import study_status
from gradsurge.experiments.study import reproduce, with_rows
from tests.experiments.study.tiny import Told, tiny_recipe, tiny_site

LOSSES = ["dice", "dice-surgery"]


def test_two_losses_in_a_database(postgres, tmp_path):
    recipe, out = tiny_recipe(tmp_path), tmp_path / "out"
    asked, told = with_rows(recipe, ["1"], LOSSES), Told()
    done = reproduce(tiny_site(recipe, out, told, storage=postgres), asked)
    assert not done.failures
    assert {(r.variant, r.seed) for r in done.records} == {
        ("dice", 0),
        ("dice", 1),
        ("dice-surgery", 0),
    }
    assert not (out / "search.journal").exists()
    studies = {s.name: s for s in study_status(postgres, name_ending(out, postgres))}
    assert len(studies) == 4  # a search and a study of runs for each loss
    assert sum(s.counts["done"] for s in studies.values()) == len(told.trained) == 7
    assert all(t.attempts == 1 for s in studies.values() for t in s.trials)

    told = Told()
    (out / "records" / "dice" / "lr0.01.json").unlink()
    again = reproduce(tiny_site(recipe, out, told, storage=postgres), asked)
    assert again.tables[0].blocks == done.tables[0].blocks
    assert told.measured == ["dice lr0.01"]


def test_one_database_serves_two_folders(postgres, tmp_path):
    recipe = tiny_recipe(tmp_path)
    asked = with_rows(recipe, ["3"], [])
    store = tmp_path / "one" / "store"
    for name in ("one", "two"):
        told = Told()
        place = tmp_path / name
        site = tiny_site(recipe, place, told, store if store.exists() else None, postgres)
        done = reproduce(site, asked)
        assert not done.failures
        assert len(told.trained) == 3  # two tries and a run, in each folder
