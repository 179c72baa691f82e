"""A study that any number of workers share, with all its points in it."""

import json
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gradsurge.experiments.recipes import Space
from gradsurge.experiments.search.attempt import by_point, read_attempts
from gradsurge.experiments.search.points import distributions_of
from gradsurge.experiments.search.quiet_optuna import quiet_optuna
from gradsurge.experiments.search.states import add_attempt
from gradsurge.experiments.search.storage import open_storage

if TYPE_CHECKING:
    from optuna import Study
    from optuna.storages import BaseStorage

_READY = "points"  # attribute of a study: so many points are there for certain
_LOOK = 0.1  # seconds between looks at points that another worker is adding


def open_study(
    storage: str,
    name: str,
    points: Sequence[Mapping[str, Any]],
    *,
    space: Space | None = None,
    patience: float = 5.0,
) -> "Study":
    """Create a study with its points, or join it; more points than before extend it.

    Who creates it adds the points. Others wait for them, and add what is missing if nothing comes
    any more: the creator may have died. Should two add the same point, one of the two counts.

    Args:
        storage: path of a journal file, or postgresql://user@host/database.
        name: of the study in the storage.
        points: in order; fewer than there are leave the study as it is.
        space: what they were drawn from, for Optuna's own tools.
        patience: seconds without a new point after which the creator is thought dead.

    Raises:
        ValueError: the storage is none or out of reach, or the study has other points.
    """
    wanted = [_plain(point) for point in points]
    study, created = _create_or_load(open_storage(storage), name)
    if not created:
        _wait_for_creator(study, len(wanted), patience)
    there = {index: chain[0].values for index, chain in by_point(read_attempts(study)).items()}
    distributions = distributions_of(space or {})
    for index, point in enumerate(wanted):
        if index in there:
            _compare(name, index, there[index], point)
        else:
            add_attempt(study, index, point, distributions=distributions)
    if len(wanted) > study.user_attrs.get(_READY, 0):
        study.set_user_attr(_READY, len(wanted))
    return study


def study_of(storage: "BaseStorage", name: str) -> "Study":
    """Return a study that is there.

    Raises:
        KeyError: it is not.
    """
    import optuna
    from optuna.samplers import RandomSampler

    # The cheapest sampler: points are drawn before the study is made, so it is never asked.
    with quiet_optuna():
        return optuna.load_study(study_name=name, storage=storage, sampler=RandomSampler(seed=0))


def _create_or_load(storage: "BaseStorage", name: str) -> tuple["Study", bool]:
    import optuna

    # Asked first: a journal keeps even attempts to create what is there.
    if name in {study.study_name for study in storage.get_all_studies()}:
        return study_of(storage, name), False
    try:
        with quiet_optuna():
            optuna.create_study(study_name=name, storage=storage, direction="maximize")
    except optuna.exceptions.DuplicatedStudyError:
        return study_of(storage, name), False
    return study_of(storage, name), True


def _wait_for_creator(study: "Study", number: int, patience: float) -> None:
    found, since = -1, time.monotonic()
    while _READY not in study.user_attrs and time.monotonic() - since <= patience:
        now = len(by_point(read_attempts(study)))
        if now >= number:
            return
        if now != found:
            found, since = now, time.monotonic()
        time.sleep(_LOOK)


def _compare(name: str, index: int, there: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    for key in [*there, *(key for key in wanted if key not in there)]:
        mine, its = wanted.get(key, "not set"), there.get(key, "not set")
        if mine != its:
            raise ValueError(
                f"study {name}: trial {index} has {key} {its!r}, the recipe says {mine!r}; it was "
                f"made with another recipe, seed or scale: choose another folder"
            )


def _plain(point: Mapping[str, Any]) -> dict[str, Any]:
    """Return a point as a storage gives it back: lists for tuples.

    Raises:
        ValueError: a value cannot be kept.
    """
    try:
        found: dict[str, Any] = json.loads(json.dumps(dict(point), allow_nan=False))
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"points: expected numbers, texts, lists and the like, got {dict(point)!r} ({error})"
        ) from error
    return found
