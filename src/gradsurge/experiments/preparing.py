"""From raw scans to a store: case by case, in parallel, as often as it takes."""

import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import gradsurge
from gradsurge.data.case_error import shown
from gradsurge.data.datasets import Dataset, RawCase
from gradsurge.data.store import (
    DatasetFile,
    check_apart,
    check_room,
    folder_name,
    is_current,
    only_writer,
    remove_case,
    remove_others,
    same_but_date,
    settings_hash,
    stamp_case,
    write_dataset_file,
)
from gradsurge.experiments.preparation import DiskFull, NothingToPrepare, Preparation
from gradsurge.experiments.prepare_case import DISK_FULL, Outcome, prepare_case
from gradsurge.experiments.prepare_outcomes import list_failures, outcomes


def prepare(
    dataset: Dataset,
    raw: Path,
    out: Path,
    *,
    seed: int = 0,
    jobs: int = 1,
    dask: str | None = None,
    on_label: Callable[[int, int], None] = lambda *_: None,
    on_tasks: Callable[[int], None] = lambda _: None,
    on_case: Callable[[Outcome], None] = lambda _: None,
) -> Preparation:
    """Bring a store up to date with a raw folder.

    What is there already and made of the same files and settings is kept, so an interrupted run
    goes on where it stopped and a finished one does nothing. Splits are drawn once, and again only
    for another seed or other cases.

    Args:
        dataset: how the cases are found, read and split.
        raw: the raw folder.
        out: the store, new or not.
        seed: of the splits.
        jobs: processes on this machine; 0 for one a core.
        dask: address of a Dask scheduler, which then does the work.
        on_label: called with (done, of all) where labels are read to balance the splits.
        on_tasks: called with the number of cases to prepare.
        on_case: called after each of them.

    Raises:
        ValueError: ``raw`` is not of this data set, ``out`` not for it, or one inside the other.
        NothingToPrepare: ``raw`` has no case.
        DiskFull: to be continued when there is room.

    What failed is listed in ``failures.json``, also if nothing could be prepared.
    """
    raw, out = raw.absolute(), out.absolute()  # workers may run elsewhere
    before = check_room(out, dataset.name)
    found = dataset.find(raw)
    result = Preparation(failures=list(found.problems))
    cases = _distinct(found.cases, result)
    if not cases:
        list_failures(out, result.failures)
        raise NothingToPrepare(raw, result.failures)
    check_apart(raw, out, cases)
    _check_same_set(before, cases, out)
    try:
        out.mkdir(parents=True, exist_ok=True)
        with only_writer(out):
            settings = settings_hash(dataset)
            todo = [case for case in cases if not _is_current(case, raw, out, settings)]
            facts = _describe(dataset, raw, cases, seed, before, on_label)
            changed = bool(todo) or not same_but_date(before, facts)
            if changed:
                write_dataset_file(out, replace(facts, complete=False))
            result.removed = remove_others(out, [case.name for case in cases])
            on_tasks(len(todo))
            work = partial(prepare_case, dataset=dataset, raw=raw, out=out, settings=settings)
            with closing(outcomes(work, todo, jobs, dask)) as done:
                for outcome in done:
                    _record(outcome, out, result)
                    on_case(outcome)
            _finish(facts, todo, changed, out, result)
    except OSError as error:
        if error.errno not in DISK_FULL:
            raise
        raise _disk_full(out, result) from error
    return result


def _distinct(cases: Sequence[RawCase], result: Preparation) -> list[RawCase]:
    first: dict[str, RawCase] = {}
    for case in cases:
        if first.setdefault(case.name, case) is not case:
            result.failures.append((case.name, "another case has the same name; rename one"))
    return list(first.values())


def _check_same_set(before: DatasetFile | None, cases: Sequence[RawCase], out: Path) -> None:
    """Refuse to replace a store by another one of the same kind: its name was mistyped."""
    names = {case.name for case in cases}
    if before is not None and before.cases and names.isdisjoint(before.cases):
        raise ValueError(
            f"{shown(out)}: holds other cases ({min(before.cases)}, ...), none of which is here; "
            f"choose another folder, or delete it"
        )


def _is_current(case: RawCase, raw: Path, out: Path, settings: str) -> bool:
    try:
        return is_current(out, case.name, stamp_case(case, raw, settings))
    except OSError:  # a file is gone: preparing the case says which
        return False


def _describe(
    dataset: Dataset,
    raw: Path,
    cases: Sequence[RawCase],
    seed: int,
    before: DatasetFile | None,
    on_label: Callable[[int, int], None],
) -> DatasetFile:
    """Return the facts of the store as they will be if no case fails."""
    listed = [[case.name, case.group, case.split] for case in cases]
    made_of = json.dumps([seed, dataset.split_settings, listed])
    key = hashlib.sha256(made_of.encode()).hexdigest()
    keep = before is not None and before.split_key == key
    return DatasetFile(
        name=dataset.name,
        dimensions=dataset.dimensions,
        channel_names=list(dataset.channel_names),
        label_names=dict(dataset.label_names),
        label_sets=dict(dataset.label_sets),
        ignore_label=dataset.ignore_label,
        raw=str(raw) if any(case.files for case in cases) else None,
        settings=dataset.settings,
        seed=seed,
        split_key=key,
        splits=(before.splits if keep and before else dataset.watched_split(cases, seed, on_label)),
        cases={case.name: folder_name(case.name) for case in cases},
        complete=True,
        gradsurge=gradsurge.__version__,
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        title=dataset.title,
    )


def _record(outcome: Outcome, out: Path, result: Preparation) -> None:
    if outcome.problem is None:
        result.prepared.append(outcome.case)
        return
    result.failures.append((outcome.case, outcome.problem))
    if outcome.disk_full:
        raise _disk_full(out, result)
    remove_case(out, outcome.case)  # that of earlier files or settings


def _finish(
    facts: DatasetFile, todo: Sequence[RawCase], changed: bool, out: Path, result: Preparation
) -> None:
    worked_on = {case.name for case in todo}
    result.unchanged = [name for name in facts.cases if name not in worked_on]
    failed = worked_on - set(result.prepared)
    list_failures(out, result.failures)
    if changed:
        there = {name: folder for name, folder in facts.cases.items() if name not in failed}
        write_dataset_file(out, replace(facts, cases=there))


def _disk_full(out: Path, result: Preparation) -> DiskFull:
    with suppress(OSError):  # where there is room for a few lines
        list_failures(out, result.failures)
    return DiskFull(
        f"{shown(out)}: the disk is full, {len(result.prepared)} more cases were stored; make room "
        f"and run the same command again, it goes on from there"
    )
