"""Changing attempts in the storage; each change is made by one worker or by none."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gradsurge.experiments.search.attempt import (
    BEFORE,
    COUNT,
    END,
    POINT,
    RESULT,
    VALUES,
    Attempt,
)

if TYPE_CHECKING:
    from optuna import Study
    from optuna.distributions import BaseDistribution
    from optuna.trial import TrialState


def add_attempt(
    study: "Study",
    index: int,
    values: Mapping[str, Any],
    *,
    count: int = 0,
    minutes: float = 0.0,
    distributions: Mapping[str, "BaseDistribution"] | None = None,
) -> None:
    """Let a point wait for a worker.

    Args:
        study: where.
        index: of the point.
        values: the point.
        count: attempts before this one.
        minutes: worked on it before.
        distributions: of the values that Optuna's own tools shall see.
    """
    from optuna.trial import TrialState, create_trial

    known = {name: d for name, d in (distributions or {}).items() if name in values}
    study.add_trial(
        create_trial(
            state=TrialState.WAITING,
            params={name: values[name] for name in known},
            distributions=known,
            user_attrs={POINT: index, COUNT: count, VALUES: dict(values), BEFORE: minutes},
        )
    )


def add_next(study: "Study", attempt: Attempt) -> None:
    """Let the point of a closed attempt wait for the next worker."""
    before = study._storage.get_trial(_id(study, attempt.number))
    add_attempt(
        study,
        attempt.index,
        attempt.values,
        count=attempt.count + 1,
        minutes=attempt.minutes,
        distributions=before.distributions,
    )


def claim(study: "Study", attempt: Attempt) -> bool:
    """Make a waiting attempt one's own; False if another worker was faster."""
    from optuna.exceptions import UpdateFinishedTrialError
    from optuna.trial import TrialState

    try:
        return bool(
            study._storage.set_trial_state_values(_id(study, attempt.number), TrialState.RUNNING)
        )
    except UpdateFinishedTrialError:
        return False


def note(study: "Study", attempt: Attempt, name: str, value: Mapping[str, Any]) -> bool:
    """Set an attribute; False if the attempt has been closed by another worker."""
    from optuna.exceptions import UpdateFinishedTrialError

    try:
        study._storage.set_trial_user_attr(_id(study, attempt.number), name, dict(value))
    except UpdateFinishedTrialError:
        return False
    return True


def close(study: "Study", attempt: Attempt, end: Mapping[str, Any]) -> bool:
    """End an attempt without a result; False if it had ended already."""
    from optuna.trial import TrialState

    return note(study, attempt, END, end) and _finish(study, attempt, TrialState.FAIL)


def complete(study: "Study", attempt: Attempt, dice: float, result: Mapping[str, Any]) -> bool:
    """End an attempt with its result; False if another worker has taken the point over."""
    from optuna.trial import TrialState

    noted = note(study, attempt, RESULT, result)
    if noted and _finish(study, attempt, TrialState.COMPLETE, [dice]):
        return True
    # Its answer lost on the way, a first try may have succeeded.
    stored = study._storage.get_trial(_id(study, attempt.number))
    return bool(stored.state == TrialState.COMPLETE)


def _finish(
    study: "Study", attempt: Attempt, state: "TrialState", values: Sequence[float] | None = None
) -> bool:
    from optuna.exceptions import UpdateFinishedTrialError

    try:
        return bool(
            study._storage.set_trial_state_values(_id(study, attempt.number), state, values)
        )
    except UpdateFinishedTrialError:
        return False


def _id(study: "Study", number: int) -> int:
    return int(study._storage.get_trial_id_from_study_id_trial_number(study._study_id, number))
