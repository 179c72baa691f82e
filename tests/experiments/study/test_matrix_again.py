"""Studies that are stopped while measuring, measured anew, shared, or cannot be reached."""

import fcntl
import json
import os
import shutil
import signal
from dataclasses import replace

import pytest

from gradsurge.experiments.search.storage import StorageError
from gradsurge.experiments.study import (
    Protocol,
    StudyStopped,
    final_runs,
    overview_of,
    read_record,
    reproduce,
    with_rows,
)
from gradsurge.experiments.study.kept_records import KeptRecords
from tests.experiments.study.tiny import GRID, Told, tiny_recipe, tiny_site

RUN = ("dice", "lr0.01")


class Impatient(Told):
    """Does not wait for others."""

    def waiting(self):
        raise StudyStopped("waiting")


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """Recipe and folder of a study of one loss and one seed."""
    folder = tmp_path_factory.mktemp("study")
    whole = tiny_recipe(folder)
    recipe = replace(whole, variants=tuple(replace(v, seeds=1) for v in whole.variants))
    done = reproduce(tiny_site(recipe, folder / "out", Told()), asked(recipe))
    assert not done.failures
    return recipe, folder / "out"


def asked(recipe):
    return with_rows(recipe, ["1"], ["dice"])


def record_of(folder):
    return folder / "records" / RUN[0] / f"{RUN[1]}.json"


@pytest.fixture
def copy(finished, tmp_path):
    recipe, folder = finished
    shutil.copytree(folder, tmp_path / "out")
    return recipe, tmp_path / "out"


def again(recipe, folder, told):
    return reproduce(tiny_site(recipe, folder, told), asked(recipe))


def test_a_signal_is_noticed_between_two_cases(copy):
    recipe, folder = copy
    before = json.loads(record_of(folder).read_text())
    shutil.rmtree(folder / "records")
    (folder / "search.journal").unlink()
    looks = []

    class Stops(Told):
        def measuring(self, name, number):
            looks.append(number)

        def measured_case(self):
            looks.append("case")
            os.kill(os.getpid(), signal.SIGTERM)

    with pytest.raises(StudyStopped, match="dice"):
        again(recipe, folder, Stops())
    assert looks == [2, "case"]
    assert not record_of(folder).exists()
    done = again(recipe, folder, Told())
    assert not done.failures
    assert json.loads(record_of(folder).read_text())["measured"] == before["measured"]


def test_shifted_images_are_looks_too(finished, tmp_path):
    _, folder = finished
    recipe = tiny_recipe(
        tmp_path, GRID.replace('["dice-surgery.n1"] }\n[scale', '["dice"] }\n[scale')
    )
    looks = []

    class Counts(Told):
        def measuring(self, name, number):
            looks.append(number)

        def measured_case(self):
            looks.append("look")

    site = tiny_site(recipe, tmp_path / "out", Counts(), folder / "store")
    reproduce(site, with_rows(recipe, ["shift"], []))
    assert looks[0] == 2 * 21
    assert looks.count("look") == sum(n for n in looks if n != "look")


def test_cases_that_failed_are_measured_again_once(copy):
    recipe, folder = copy
    file = record_of(folder)
    content = json.loads(file.read_text())
    content["measured"]["problems"] = [["a", "gone"]]
    file.write_text(json.dumps(content))
    overview = overview_of(recipe, Protocol(asked(recipe), ["1"]), folder)
    assert (overview.complete, overview.missing, overview.unmeasured) == (False, 0, 1)
    told = Told()
    done = again(recipe, folder, told)
    assert told.measured == ["dice lr0.01"]
    assert not done.failures
    assert not read_record(file).measured.problems
    assert overview_of(recipe, Protocol(asked(recipe), ["1"]), folder).complete


def test_what_another_begins_to_measure_in_that_moment_is_left_to_it(copy, monkeypatch):
    recipe, folder = copy
    record_of(folder).unlink()
    told = Impatient()
    with (
        monkeypatch.context() as moment,
        (folder / "runs" / RUN[0] / RUN[1] / ".lock").open("w") as lock,
    ):
        moment.setattr(final_runs, "is_held", lambda _: False)  # as it was a moment before
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(StudyStopped, match="waiting"):
            again(recipe, folder, told)
    assert not told.failures
    assert not again(recipe, folder, Told()).failures


def test_what_another_measures_anew_is_left_to_it(copy):
    recipe, folder = copy
    record_of(folder).unlink()
    told = Impatient()
    with (folder / "runs" / RUN[0] / RUN[1] / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(StudyStopped, match="waiting"):
            again(recipe, folder, told)
    assert told.measured == []
    again(recipe, folder, told)
    assert told.measured == ["dice lr0.01"]


@pytest.mark.parametrize("error", [RuntimeError("out of memory"), OSError(28, "disk full")])
def test_what_goes_wrong_while_measuring_anew_is_told(copy, monkeypatch, error):
    recipe, folder = copy
    record_of(folder).unlink()

    def fails(*_, **__):
        raise error

    monkeypatch.setattr(final_runs, "measure_run", fails)
    done = again(recipe, folder, Told())
    assert dict(done.failures) == {"dice lr0.01": str(error)}


def test_a_storage_out_of_reach_ends_it_at_once(finished, tmp_path):
    recipe, folder = finished
    told = Told()
    site = replace(
        tiny_site(recipe, tmp_path / "out", told, folder / "store"), storage=str(tmp_path)
    )
    with pytest.raises(StorageError, match="is a folder"):
        reproduce(site, with_rows(recipe, ["1"], []))
    assert told.failures == {}


CHAIN = GRID.replace(
    '[variants."dice-surgery.finetune"]\ninit = "dice.first"',
    '"dice.second" = { init = "dice.first", share = 0.25, point_of = "dice" }\n'
    '[variants."dice-surgery.finetune"]\ninit = "dice.second"',
)


def test_starts_of_starts(finished, tmp_path):
    recipe = tiny_recipe(tmp_path, CHAIN)
    told = Impatient()
    site = tiny_site(recipe, tmp_path / "out", told, finished[1] / "store")
    done = reproduce(site, with_rows(recipe, ["schedule"], []))
    assert not done.failures
    runs = tmp_path / "out" / "runs"
    for variant, start in (("dice.second", "dice.first"), ("dice-surgery.finetune", "dice.second")):
        (config,) = runs.glob(f"{variant}/*/config.json")
        assert json.loads(config.read_text())["init"] == str(runs / start / config.parent.name)
    assert sorted(told.measured) == [f"dice-surgery.finetune {config.parent.name}"]
    told = Impatient()
    reproduce(
        tiny_site(recipe, tmp_path / "out", told, finished[1] / "store"),
        with_rows(recipe, ["schedule"], []),
    )
    assert told.trained == []


def test_records_of_other_runs_tell_of_no_search(copy):
    recipe, folder = copy
    points = Protocol(asked(recipe), ["1"]).points(recipe.variant("dice"))
    assert KeptRecords(recipe, folder).selection("dice", points) is not None
    longer = replace(recipe, run={**recipe.run, "training": {"steps": 5}})
    assert KeptRecords(longer, folder).selection("dice", points) is None
    without = replace(recipe, variants=recipe.variants[1:])
    assert KeptRecords(without, folder).selection("dice", points) is None


def test_the_pace_does_not_mind_a_machine_that_slept(copy):
    recipe, folder = copy
    file = folder / "runs" / RUN[0] / RUN[1] / "metrics.jsonl"
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    steps = [line for line in lines if line.get("kind") == "step"]
    for line in steps:
        line["seconds"] = 0.5
    steps[1]["seconds"] = 900.0
    for other in (folder / "runs").glob("*/*/metrics.jsonl"):
        other.unlink()
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    pace = overview_of(recipe, Protocol(asked(recipe), ["1"]), folder).pace
    assert pace.seconds == 0.5
