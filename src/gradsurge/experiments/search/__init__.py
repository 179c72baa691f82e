"""The search of the paper: points in a shared study, and workers that train them."""

from gradsurge.experiments.search.address import (
    journal_of,
    shown_storage,
    without_typed_secrets,
)
from gradsurge.experiments.search.folder_mark import shared_name
from gradsurge.experiments.search.heart import Pulse
from gradsurge.experiments.search.points import draw_points
from gradsurge.experiments.search.search_trial import SearchTrial, read_trials, select
from gradsurge.experiments.search.shared_study import open_study
from gradsurge.experiments.search.status import StudyStatus, study_status
from gradsurge.experiments.search.take_up import retry_failed
from gradsurge.experiments.search.trial_runs import TrialRuns
from gradsurge.experiments.search.variant_study import join_study, points_of
from gradsurge.experiments.search.worker import WorkerEnd, run_worker
from gradsurge.experiments.search.worker_contract import (
    NothingToTrainOn,
    TrialInterrupted,
    TrialOutcome,
    WorkerSettings,
    WorkerWatcher,
)

__all__ = [
    "NothingToTrainOn",
    "Pulse",
    "SearchTrial",
    "StudyStatus",
    "TrialInterrupted",
    "TrialOutcome",
    "TrialRuns",
    "WorkerEnd",
    "WorkerSettings",
    "WorkerWatcher",
    "draw_points",
    "join_study",
    "journal_of",
    "open_study",
    "points_of",
    "read_trials",
    "retry_failed",
    "run_worker",
    "select",
    "shared_name",
    "shown_storage",
    "study_status",
    "without_typed_secrets",
]
