"""Whole studies on tiny phantoms: made, stopped, taken up, broken and mended."""

import fcntl
import json
import shutil
import signal
from dataclasses import replace
from types import SimpleNamespace

import pytest

from gradsurge.experiments.recipes.requests import SEED
from gradsurge.experiments.search import (
    NothingToTrainOn,
    SearchTrial,
    journal_of,
    select,
    study_status,
)
from gradsurge.experiments.study import (
    Protocol,
    Reproduction,
    StudyStopped,
    for_files,
    matrix,
    overview_of,
    read_records,
    reproduce,
    tables_from_records,
    with_rows,
)
from gradsurge.experiments.study.kept_records import KeptRecords
from gradsurge.experiments.study.planned_run import PlannedRun
from gradsurge.experiments.study.summary import summary_of
from gradsurge.training import Observer
from tests.experiments.study.tiny import RANDOM, Told, tiny_recipe, tiny_site


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory):
    """Recipe, folder and outcome of a study with everything."""
    folder = tmp_path_factory.mktemp("study")
    recipe, told = tiny_recipe(folder), Told()
    site = tiny_site(recipe, folder / "out", told)
    done = reproduce(site, with_rows(recipe, list(recipe.tables), []))
    assert not done.failures
    return recipe, folder / "out", done, told


def once(recipe):
    """Return the recipe with one seed."""
    return replace(recipe, variants=tuple(replace(v, seeds=1) for v in recipe.variants))


def only(recipe, *losses, tables=("1",)):
    return with_rows(recipe, list(tables), losses)


def test_everything_is_trained_measured_and_kept(unbroken):
    recipe, folder, done, told = unbroken
    kept = {(r.variant, r.seed) for r in done.records}
    assert kept == {
        ("dice", 0),
        ("dice", 1),
        ("dice-surgery", 0),
        ("dice-surgery.n1", 0),
        ("dice-surgery.finetune", 0),
    }
    assert len(told.trained) == 10  # four tries, five runs, one to start from
    assert sorted(told.measured) == sorted(f"{r.variant} {r.run}" for r in done.records)
    assert len(done.tables) == len(recipe.tables)
    assert len({json.dumps(dict(r.point)) for r in done.records if r.variant == "dice"}) == 2
    assert not (folder / "records" / "dice.first").exists()


def test_searches_come_first_then_first_seeds_then_second_ones(unbroken):
    def stage(title):
        return -1 if ", trying" in title else int(title.rpartition("seed ")[2])

    stages = [stage(title) for title in unbroken[3].trained]
    assert stages == [-1] * 4 + [0] * 5 + [1]


def test_what_others_work_on_is_passed_over(unbroken, tmp_path, monkeypatch):
    recipe, folder, *_ = unbroken
    held = tmp_path / "runs" / "dice" / "lr0.01"
    held.mkdir(parents=True)

    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(matrix, "time", SimpleNamespace(sleep=interrupted))
    told = Told()
    site = tiny_site(recipe, tmp_path, told, folder / "store")
    with (held / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(StudyStopped, match="waiting for others"):
            reproduce(site, only(recipe, "dice", "dice-surgery"))
    assert "dice learning_rate 0.01, seed 1" in told.trained
    assert any(title.startswith("dice-surgery learning_rate") for title in told.trained)
    assert "dice learning_rate 0.01, seed 0" not in told.trained


def test_the_best_point_by_validation_dice_was_taken(unbroken):
    _, folder, done, _ = unbroken
    for record in done.records:
        points = record.selection["tried"]
        tried = {one["point"]["training.learning_rate"]: one["dice"] for one in points}
        assert set(tried) == {3e-3, 1e-2}
        trials = [
            SearchTrial(i, one["point"], "done", dice=one["dice"], scores={"nll": one["nll"]})
            for i, one in enumerate(points)
        ]
        (best,) = select(trials, 1)
        assert record.point["training.learning_rate"] == best.point["training.learning_rate"]
        searched = record.selection["of"]
        for rate, dice in tried.items():
            outcome = folder / "runs" / searched / f"lr{rate}_tried" / "outcome.json"
            assert json.loads(outcome.read_text())["scores"]["none"]["dice"] == dice
    config = folder / "runs" / "dice" / "lr0.01_tried" / "config.json"
    assert json.loads(config.read_text())["training"]["steps"] == 2


def test_a_run_goes_on_from_the_one_of_its_seed(unbroken):
    _, folder, done, _ = unbroken
    (record,) = [r for r in done.records if r.variant == "dice-surgery.finetune"]
    config = json.loads((folder / "runs" / record.variant / record.run / "config.json").read_text())
    assert config["init"] == str(folder / "runs" / "dice.first" / record.run)
    assert config["training"]["steps"] == 2


def test_records_hold_what_their_tables_need(unbroken):
    by_name = {(r.variant, r.seed): r.measured for r in unbroken[2].records}
    assert by_name["dice-surgery.n1", 0].shift
    assert not by_name["dice-surgery.n1", 0].lesions
    assert by_name["dice-surgery", 0].lesions
    assert not by_name["dice-surgery", 0].shift
    assert set(by_name["dice-surgery", 0].pooled) == {"none", "equilibrium", "bias", "temperature"}
    assert set(by_name["dice", 0].posterior) == {"none", "bias", "temperature", "posterior"}


def test_the_same_again_does_nothing(unbroken):
    recipe, folder, done, _ = unbroken
    told = Told()
    again = reproduce(tiny_site(recipe, folder, told), with_rows(recipe, list(recipe.tables), []))
    assert told.trained == told.measured == []
    assert again.tables == done.tables
    overview = overview_of(recipe, Protocol(recipe, list(recipe.tables)), folder)
    assert overview.missing == 0
    assert overview.minutes == 0
    assert "measured on 10 runs" in overview.pace.source


def test_records_alone_make_the_tables(unbroken, tmp_path):
    recipe, folder, done, _ = unbroken
    shutil.copytree(folder / "records", tmp_path / "records")
    found = tables_from_records(recipe, with_rows(recipe, list(recipe.tables), []), tmp_path)
    assert found.tables == done.tables
    overview = overview_of(recipe, Protocol(recipe, list(recipe.tables)), tmp_path)
    assert overview.complete  # nothing goes on from dice.first any more
    assert "records" in overview.pace.source


def test_records_tell_of_tries_and_validations(unbroken):
    for record in unbroken[2].records:
        assert [step for step, _ in record.training["curve"]] == [record.training["steps"]]
        assert record.training["curve"][-1][1] == pytest.approx(record.validation["dice"])
        assert all(one["nll"] > 0 for one in record.selection["tried"])
        corrections = set(record.validation["nll"]) - {"none", "temperature"}
        assert set(record.validation["shifts"]) == corrections
        assert len(record.validation["temperature"]) == 1


def test_a_start_is_missing_while_something_goes_on_from_it(unbroken, tmp_path):
    recipe, folder, *_ = unbroken
    shutil.copytree(folder / "records", tmp_path / "records")
    shutil.rmtree(tmp_path / "records" / "dice-surgery.finetune")
    overview = overview_of(recipe, Protocol(recipe, list(recipe.tables)), tmp_path)
    missing = [one.variant.name for one in overview.variants if one.missing]
    assert sorted(missing) == ["dice-surgery.finetune", "dice.first"]


def test_what_records_tell_is_not_trained_again(unbroken, tmp_path):
    recipe, folder, *_ = unbroken
    shutil.copytree(folder / "records", tmp_path / "records")
    (lost,) = (tmp_path / "records" / "dice").glob("*_seed1.json")
    lost.unlink()
    told = Told()
    site = tiny_site(recipe, tmp_path, told, folder / "store")
    done = reproduce(site, with_rows(recipe, ["1", "schedule"], []))
    assert not done.failures
    rate = lost.stem.removeprefix("lr").removesuffix("_seed1")
    assert told.trained == [f"dice learning_rate {rate}, seed 1"]
    assert told.measured == [f"dice {lost.stem}"]


class AtTheEnd(Observer):
    """Sends SIGTERM in the last validation, too late for the training to be interrupted."""

    def validated(self, step, scores, best):
        signal.raise_signal(signal.SIGTERM)


def test_a_signal_at_the_end_of_what_is_made_up_stops_the_study(unbroken, tmp_path, monkeypatch):
    recipe, folder, *_ = unbroken
    recipe = once(recipe)
    asked = only(recipe, "dice")
    reproduce(tiny_site(recipe, tmp_path, Told(), folder / "store"), asked)
    (record,) = (tmp_path / "records" / "dice").glob("*.json")
    record.unlink()
    shutil.rmtree(tmp_path / "runs" / "dice" / record.stem)  # the journal has it as done
    told = Told()
    monkeypatch.setattr(told, "observers", lambda: [AtTheEnd()])
    with pytest.raises(StudyStopped, match="dice"):
        reproduce(tiny_site(recipe, tmp_path, told, folder / "store"), asked)
    assert told.trained == [f"dice {record.stem}"]
    assert not record.exists()
    again = reproduce(tiny_site(recipe, tmp_path, Told(), folder / "store"), asked)
    assert not again.failures
    assert record.exists()


def test_a_store_that_is_gone_stops_the_study_and_uses_no_run_up(unbroken, tmp_path):
    recipe, folder, *_ = unbroken
    shutil.copytree(folder / "store", tmp_path / "store")
    asked = only(once(recipe), "dice")
    site = tiny_site(once(recipe), tmp_path / "out", Told(), tmp_path / "store")
    (tmp_path / "store").rename(tmp_path / "elsewhere")
    with pytest.raises(NothingToTrainOn, match="the store is gone"):
        reproduce(site, asked)
    (status,) = study_status(journal_of(tmp_path / "out"))
    assert {trial.state for trial in status.trials} == {"waiting"}
    (tmp_path / "elsewhere").rename(tmp_path / "store")
    again = reproduce(tiny_site(once(recipe), tmp_path / "out", Told(), tmp_path / "store"), asked)
    assert not again.failures
    assert [record.variant for record in again.records] == ["dice"]


def test_a_summary_tells_points_and_failures(unbroken):
    recipe, _, done, _ = unbroken
    text = summary_of(recipe, done.records, [("dice lr", "a | b")])
    assert "| dice | lr0.01_seed1 | learning_rate 0.01, seed 1 | 2 |" in text
    assert "- dice lr: a \\| b" in text


def measured_of(folder, variant, run):
    found, _ = read_records(folder)
    (record,) = [r for r in found if (r.variant, r.run) == (variant, run)]
    return record.measured


@pytest.mark.parametrize("at", [2, 3])
def test_stopped_and_taken_up_it_ends_the_same(unbroken, tmp_path, at):
    recipe, folder, *_ = unbroken
    told = Told(at)
    recipe = once(recipe)
    asked = only(recipe, "dice")
    site = tiny_site(recipe, tmp_path, told, folder / "store")
    with pytest.raises(StudyStopped, match="dice"):
        reproduce(site, asked)
    before = {file: file.read_bytes() for file in tmp_path.glob("runs/*/*/outcome.json")}
    assert len(before) == at - 1
    told = Told()
    done = reproduce(tiny_site(recipe, tmp_path, told, folder / "store"), asked)
    assert not done.failures
    assert len(told.trained) == 3 - (at - 1)
    assert all(file.read_bytes() == content for file, content in before.items())
    assert measured_of(tmp_path, "dice", "lr0.01") == measured_of(folder, "dice", "lr0.01")


def junk(folder, variant, run):
    place = folder / "runs" / variant / run
    place.mkdir(parents=True)
    (place / "notes.txt").write_text("mine")
    return place


def test_a_failed_run_is_told_passed_over_and_mended(unbroken, tmp_path):
    recipe, folder, *_ = unbroken
    shutil.copytree(folder, tmp_path / "out", ignore=lambda _, names: {"dice-surgery.finetune"})
    out = tmp_path / "out"
    for name in ("runs/dice/lr0.01_seed1", "records/dice"):
        shutil.rmtree(out / name)
    place = junk(out, "dice", "lr0.01_seed1")
    told = Told()
    done = reproduce(tiny_site(recipe, out, told), only(recipe, "dice", "dice-surgery"))
    assert set(told.failures) == {"dice lr0.01_seed1"}
    assert "is not empty and holds no run" in dict(done.failures)["dice lr0.01_seed1"]
    assert {(r.variant, r.seed) for r in done.records} == {
        ("dice", 0),
        ("dice-surgery", 0),
    }
    assert done.tables[0].notes == ["Dice: 1 of 2 runs so far."]
    shutil.rmtree(place)
    told = Told()
    done = reproduce(tiny_site(recipe, out, told), only(recipe, "dice", "dice-surgery"))
    assert not done.failures
    assert len(told.measured) == 1
    assert len(done.records) == 3


def test_failed_tries(unbroken, tmp_path):
    recipe, folder, *_ = unbroken
    place = junk(tmp_path, "dice", "lr0.01_tried")
    small = once(recipe)
    done = reproduce(tiny_site(small, tmp_path, Told(), folder / "store"), only(small, "dice"))
    assert [name for name, _ in done.failures] == ["dice lr0.01_tried"]
    (record,) = done.records
    assert record.point == {"training.learning_rate": 3e-3, SEED: 0}
    assert record.selection["tried"][1]["dice"] is None
    assert "| 1 of 2 |" in summary_of(small, done.records, done.failures)
    overview = overview_of(small, Protocol(only(small, "dice"), ["1"]), tmp_path)
    assert not overview.complete
    shutil.rmtree(place)
    done = reproduce(tiny_site(small, tmp_path, Told(), folder / "store"), only(small, "dice"))
    assert not done.failures
    (record,) = done.records
    assert record.point == {"training.learning_rate": 1e-2, SEED: 0}  # as in the unbroken study
    assert record.selection["tried"][1]["dice"] is not None


def test_failed_tries_of_a_study_from_elsewhere_are_told(unbroken, tmp_path):
    recipe, folder, *_ = unbroken
    junk(tmp_path, "dice", "lr0.01_tried")
    small = once(recipe)
    reproduce(tiny_site(small, tmp_path, Told(), folder / "store"), only(small, "dice"))
    shutil.rmtree(tmp_path / "runs")
    told = Told()
    done = reproduce(tiny_site(small, tmp_path, told, folder / "store"), only(small, "dice"))
    assert [name for name, _ in done.failures] == ["dice lr0.01_tried"]
    assert not told.trained
    asked = Protocol(only(small, "dice"), ["1"])
    assert overview_of(small, asked, tmp_path).complete  # nothing of it can be done here
    (failure,) = tables_from_records(small, only(small, "dice"), tmp_path).failures
    assert failure == ("dice lr0.01_tried", "its training failed when it was tried")
    whole = for_files(small, only(small, "dice-surgery"), tmp_path, Reproduction([], [], []))
    assert failure in whole.failures  # whatever was asked for: the rows are all there
    outcome = tmp_path / "runs" / "dice" / "lr0.01_tried" / "outcome.json"
    outcome.parent.mkdir(parents=True)
    outcome.touch()  # mended since, and not the best: the record stays as it was
    assert not tables_from_records(small, only(small, "dice"), tmp_path).failures
    shutil.rmtree(tmp_path / "runs")
    for trained in (["dice learning_rate 0.003, seed 1"], []):  # a second seed, and then no more
        told = Told()
        reproduce(tiny_site(recipe, tmp_path, told, folder / "store"), only(recipe, "dice"))
        assert told.trained == trained


def test_where_every_try_fails_the_row_stays_empty(unbroken, tmp_path):
    recipe, folder, *_ = unbroken
    for rate in (0.003, 0.01):
        junk(tmp_path, "dice-surgery", f"lr{rate}_tried")
    told = Told()
    asked = with_rows(recipe, ["3"], [])
    done = reproduce(tiny_site(recipe, tmp_path, told, folder / "store"), asked)
    assert done.records == []
    assert "every point that was tried failed" in dict(done.failures)["dice-surgery.n1"]
    assert told.trained  # it was tried, and there is no second training of what has no point
    assert done.tables[0].blocks[0].rows[0].cells["nll"].value is None


def test_a_record_of_other_wishes_or_weights_does_not_count(unbroken, tmp_path):
    recipe, folder, done, _ = unbroken
    out = tmp_path / "out"
    shutil.copytree(folder, out)
    record = next(r for r in done.records if r.variant == "dice")
    run = PlannedRun(recipe.variant("dice"), record.run, record.point)
    assert KeptRecords(recipe, out).of(run) == record
    longer = replace(recipe, run={**recipe.run, "training": {"steps": 5}})
    rarer = {**recipe.run, "training": {**recipe.run["training"], "checkpoint_every": 2}}
    other_data = replace(recipe, data=replace(recipe.data, settings={"cases": 11}))
    shift = {**recipe.tables, "shift": recipe.tables["1"]}
    assert KeptRecords(longer, out).of(run) is None
    assert KeptRecords(replace(recipe, run=rarer), out).of(run) == record
    assert KeptRecords(other_data, out).of(run) is None
    assert KeptRecords(replace(recipe, tables=shift), out).of(run) is None
    assert KeptRecords(replace(recipe, scale="small"), out).of(run) is None
    outcome = out / "runs" / "dice" / record.run / "outcome.json"
    content = json.loads(outcome.read_text())
    outcome.write_text(json.dumps({**content, "step": content["step"] + 1}))
    assert KeptRecords(recipe, out).of(run) is None
    shutil.rmtree(outcome.parent)
    assert KeptRecords(recipe, out).of(run) == record
    (out / "records" / "dice" / f"{record.run}.json").write_text("{")
    assert KeptRecords(recipe, out).of(run) is None


def test_a_random_search_keeps_its_best(unbroken, tmp_path):
    recipe = tiny_recipe(tmp_path, RANDOM)
    told = Told()
    site = tiny_site(recipe, tmp_path / "out", told, unbroken[1] / "store")
    done = reproduce(site, with_rows(recipe, ["1", "3"], ["dice-surgery"]))
    assert not done.failures
    kept = [r for r in done.records if r.variant == "dice-surgery"]
    tried = [one["dice"] for one in kept[0].selection["tried"]]
    assert len(tried) == 3
    best = sorted(range(3), key=lambda i: -tried[i])[:2]
    assert [r.run for r in kept] == [f"trial_{i:03d}" for i in best]
    (follower,) = [r for r in done.records if r.variant == "dice-surgery.n1"]
    assert follower.point["training.learning_rate"] == kept[0].point["training.learning_rate"]
    assert follower.run == kept[0].run
    assert len(list((tmp_path / "out" / "runs" / "dice-surgery").iterdir())) == 3
    assert len(told.trained) == 3 + 1  # what is only measured counts as no training
    assert len(told.measured) == 2 + 1
    overview = overview_of(recipe, Protocol(with_rows(recipe, ["1"], ["dice"]), ["1"]), tmp_path)
    (dice,) = overview.variants
    assert (dice.tries, dice.runs, dice.missing_steps) == (3, 2, 12)
