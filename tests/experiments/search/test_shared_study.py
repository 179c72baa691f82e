import threading
import uuid

import optuna
import pytest

from gradsurge.experiments.recipes import Range
from gradsurge.experiments.search import open_study, read_trials, study_status
from gradsurge.experiments.search.attempt import read_attempts
from gradsurge.experiments.search.storage import insist, open_storage

POINTS = [{"training.learning_rate": 0.001 * i, "loss.a": 0.3} for i in range(1, 6)]
SPACE = {"training.learning_rate": Range(1e-3, 1e-1)}


@pytest.fixture
def name():
    return f"study-{uuid.uuid4().hex}"


def points_in(study):
    return [dict(trial.point) for trial in read_trials(study)]


def test_more_points_extend_a_study_and_fewer_leave_it(storage, name):
    study = open_study(storage, name, POINTS[:2], space=SPACE)
    assert points_in(study) == POINTS[:2]
    assert points_in(open_study(storage, name, POINTS, space=SPACE)) == POINTS
    again = open_study(storage, name, POINTS[:3], space=SPACE)
    assert points_in(again) == POINTS
    assert len(again.trials) == len(POINTS)  # by Optuna's own count
    assert again.trials[1].params == {"training.learning_rate": 0.002}
    assert {status.name: status.counts["waiting"] for status in study_status(storage)}[name] == 5


def test_creators_at_the_same_moment_make_one_study(storage, name):
    open_storage(storage)
    start, problems = threading.Barrier(4), []

    def create():
        try:
            start.wait()
            open_study(storage, name, POINTS)
        except ValueError as error:
            problems.append(error)

    threads = [threading.Thread(target=create) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems
    assert points_in(open_study(storage, name, POINTS)) == POINTS


def test_points_that_a_dead_creator_left_out_are_added(storage, name):
    study = open_study(storage, name, POINTS[:2])
    storage_ = study._storage
    unready = optuna.create_study(study_name=f"{name}-half", storage=storage_, direction="maximize")
    for attempt in read_attempts(study):
        unready.add_trial(
            optuna.trial.create_trial(
                state=optuna.trial.TrialState.WAITING, user_attrs=dict(attempt.facts)
            )
        )
    assert points_in(open_study(storage, f"{name}-half", POINTS, patience=0.2)) == POINTS


def test_tables_made_by_several_at_once(postgres):
    """A fresh database: who makes the tables is not agreed upon."""
    import psycopg

    fresh = f"db{uuid.uuid4().hex}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {fresh}")
    url = postgres.replace("/postgres?", f"/{fresh}?")
    start, opened, problems = threading.Barrier(3), [], []

    def create():
        try:
            start.wait()
            opened.append(open_storage(url))
        except ValueError as error:
            problems.append(str(error))

    threads = [threading.Thread(target=create) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(opened), problems) == (3, [])


@pytest.mark.parametrize(
    ("points", "words"),
    [
        ([{"a": 2}], "trial 0 has a 1, the recipe says 2"),
        ([{"a": 1, "b": 1}], "trial 0 has b 'not set', the recipe says 1"),
        ([{"a": 1}, {"a": object()}], "points: expected numbers"),
        ([{"a": float("nan")}], "points: expected numbers"),
    ],
)
def test_other_points_are_refused(tmp_path, points, words):
    storage = str(tmp_path / "search.journal")
    open_study(storage, "study", [{"a": 1}])
    with pytest.raises(ValueError, match=words):
        open_study(storage, "study", points)
    assert points_in(open_study(storage, "study", [])) == [{"a": 1}]


def test_a_storage_is_asked_again_until_it_answers(monkeypatch):
    slept, answers = [], iter([OSError("away"), OSError("away"), 7])
    monkeypatch.setattr("gradsurge.experiments.search.storage.time.sleep", slept.append)

    def act():
        answer = next(answers)
        if isinstance(answer, OSError):
            raise answer
        return answer

    assert insist(act) == 7
    assert slept == [0.5, 1.0]

    def away():
        raise OSError("away")

    with pytest.raises(ValueError, match="storage: out of reach for 20 seconds"):
        insist(away, seconds=20)
    assert sum(slept[2:]) >= 20
