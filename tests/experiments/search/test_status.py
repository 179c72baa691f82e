import json

import pytest

from gradsurge.experiments.search import (
    SearchTrial,
    StudyStatus,
    open_study,
    search_trial,
    study_status,
)
from gradsurge.experiments.search.presence import Worker, present
from gradsurge.experiments.search.take_up import claim_next


def done(index, minutes, dice=0.5):
    return SearchTrial(index, {"a": index}, "done", minutes=minutes, dice=dice)


def test_time_left_is_by_the_median_and_those_at_work():
    running = [SearchTrial(i, {}, "running", minutes=m) for i, m in ((3, 4.0), (4, 50.0))]
    waiting = [SearchTrial(5, {}, "waiting"), SearchTrial(6, {}, "failed")]
    trials = (done(0, 5.0), done(1, 10.0), done(2, 99.0), *running, *waiting)
    # The median is 10: 6 minutes of one, none of the other, 10 of the one that waits; two at work.
    assert StudyStatus("s", trials).minutes_left == pytest.approx((6 + 0 + 10) / 2)
    assert StudyStatus("s", tuple(waiting)).minutes_left is None
    assert StudyStatus("s", (done(0, 5.0),)).minutes_left == 0.0


def test_status_is_plain(tmp_path):
    storage = str(tmp_path / "search.journal")
    open_study(storage, "b/dice@mark", [{"training.learning_rate": 0.1}])
    open_study(storage, "a/dice", [{}, {}])
    found = study_status(storage)
    assert [status.name for status in found] == ["a/dice", "b/dice@mark"]
    assert found[0].counts == {"done": 0, "running": 0, "waiting": 2, "failed": 0}
    assert found[0].best is None
    told = json.loads(json.dumps(found[1].to_json()))
    assert told["waiting"] == 1
    assert told["trials"][0]["point"] == {"training.learning_rate": 0.1}
    assert [status.name for status in study_status(storage, "@mark")] == ["b/dice@mark"]
    best = StudyStatus("s", (done(0, 1.0, 0.7), done(1, 1.0, 0.7))).best
    assert best.index == 0


def test_trial_of_a_worker_that_died_here_waits(tmp_path):
    storage, worker = str(tmp_path / "search.journal"), Worker()
    study = open_study(storage, "a/dice", [{"a": 1}])

    def seen(folder=tmp_path):
        (trial,) = study_status(storage, folder=folder)[0].trials  # by name
        return trial

    with present(tmp_path, worker):
        claim_next(study, worker, lambda *_: False)
        assert (seen().state, seen().worker) == ("running", worker.name)
    # Its file is gone, or no longer locked, as the system leaves it after a kill.
    assert (seen().state, seen().worker) == ("waiting", None)
    assert seen().reason == f"its worker {worker.name} died"
    lock = tmp_path / "workers" / f"{worker.name}.lock"
    lock.touch()
    assert seen().state == "waiting"
    other = open_study(storage, "a/dice@0123456789ab", [{"a": 1}])  # of another folder
    claim_next(other, Worker(), lambda *_: False)
    assert study_status(storage, folder=tmp_path)[1].trials[0].state == "running"
    # Who does not know the folder, or is on another machine, cannot tell.
    assert seen(folder=None).state == "running"


def test_a_worker_that_ends_while_one_looks_is_not_dead(tmp_path, monkeypatch):
    storage, worker = str(tmp_path / "search.journal"), Worker()
    study = open_study(storage, "a/dice", [{"a": 1}])
    chain = claim_next(study, worker, lambda *_: False)

    def ends(*_):
        study.tell(chain[-1].number, 0.5)
        return "gone"

    monkeypatch.setattr(search_trial, "whereabouts", ends)
    assert study_status(storage, folder=tmp_path)[0].counts["done"] == 1


def test_nothing_is_said_of_workers_elsewhere(tmp_path):
    storage = str(tmp_path / "search.journal")
    study = open_study(storage, "a/dice", [{"a": 1}])
    claim_next(study, Worker(machine="another"), lambda *_: False)
    assert study_status(storage, folder=tmp_path)[0].counts["running"] == 1
