"""The prepared cases of a study: a store that is given, or made of raw data."""

import time
from pathlib import Path

from gradsurge.data.case_error import shown
from gradsurge.data.store import Store
from gradsurge.data.store.dataset_file import NAME as DATASET
from gradsurge.data.store.dataset_file import read_dataset_file
from gradsurge.experiments.prepare_case import Outcome
from gradsurge.experiments.preparing import prepare
from gradsurge.experiments.recipes import Recipe, limit_cases, make_recipe_dataset
from gradsurge.experiments.search.presence import is_held
from gradsurge.experiments.study.store_check import check_store, is_of_phantoms
from gradsurge.experiments.study.study_folder import STORE
from gradsurge.experiments.study.study_site import StudyWatcher

_SPLITS = ("train", "validation", "test")
_LOOK = 1.0  # seconds between looks at a preparation of others


class NoData(ValueError):
    """There are no cases to train on; the message says where to get them."""


def study_store(
    recipe: Recipe,
    folder: Path,
    store: Path | None = None,
    raw: Path | None = None,
    watcher: StudyWatcher | None = None,
    jobs: int = 1,
) -> Store:
    """Return the cases of a study, as many as the recipe's scale has.

    Args:
        recipe: of the study.
        folder: of the study; a store made here goes to store/ in it.
        store: a store of ``gradsurge prepare``; at the scale "smoke" also one of phantoms.
        raw: the raw data; prepared as the recipe says, unless that was done before.
        watcher: told of the preparation.
        jobs: processes that prepare; 0 for one a core.

    Raises:
        NoData: neither is given, and nothing was prepared before.
        ValueError: the store is of another data set or was prepared in another way, or the raw
            folder cannot be prepared.
    """
    own = folder / STORE
    made_here = raw is not None or is_of_phantoms(recipe)
    if store is None and not made_here and not (own / DATASET).exists():
        raise NoData(
            f"{recipe.name}: no data; give --data RAW or --store STORE. Get the data from: "
            f"{recipe.data.source or 'its publisher'}"
        )
    if store is None:
        _prepare(recipe, raw, own, watcher or StudyWatcher(), jobs)
    opened = Store.open(own if store is None else store)
    check_store(opened, recipe)
    limited = limit_cases(opened, recipe.data.cases)
    for split in _SPLITS:
        if not limited.splits.get(split):
            raise ValueError(
                f"{shown(opened.path)}: no {split} cases, which a study needs; prepare the store "
                f"with another split"
            )
    return limited


def _prepare(recipe: Recipe, raw: Path | None, out: Path, watcher: StudyWatcher, jobs: int) -> None:
    """Prepare the cases, unless that is done; wait for another process that is at it."""
    while not _is_complete(out):
        if is_held(out):
            watcher.waiting()
            time.sleep(_LOOK)
            continue
        if raw is None and not is_of_phantoms(recipe):
            return  # opening it says that it is not finished
        try:
            _prepare_now(recipe, Path() if raw is None else raw, out, watcher, jobs)
        except ValueError:
            if not is_held(out):
                raise


def _is_complete(store: Path) -> bool:
    try:
        return read_dataset_file(store).complete
    except (OSError, ValueError):
        return False


def _prepare_now(recipe: Recipe, raw: Path, out: Path, watcher: StudyWatcher, jobs: int) -> None:
    done = 0

    def on_case(_: Outcome) -> None:
        nonlocal done
        done += 1
        watcher.done(done)

    found = prepare(
        make_recipe_dataset(recipe.data),
        raw,
        out,
        jobs=jobs,
        on_tasks=lambda number: watcher.stage("preparing the cases", number),
        on_case=on_case,
    )
    for case, problem in found.failures:
        watcher.failed(case, problem)
