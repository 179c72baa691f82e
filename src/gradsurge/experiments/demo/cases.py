"""The data of a demo: a store, and the held-out cases as files to measure against."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gradsurge.data.case_error import CaseError, shown
from gradsurge.data.datasets import Dataset
from gradsurge.data.datasets.making import make_dataset
from gradsurge.data.datasets.phantom_set import PhantomSet
from gradsurge.data.formats import READERS, suffix_of
from gradsurge.data.store import Store, StoredCase
from gradsurge.experiments.demo.compared import POSTERIOR
from gradsurge.experiments.demo.folder import IMAGES, LABELS, PREDICTIONS, STORE
from gradsurge.experiments.demo.plan import DemoPlan
from gradsurge.experiments.demo.posterior_threshold import posterior_threshold
from gradsurge.experiments.demo.watcher import Watcher
from gradsurge.experiments.prediction.frame import frame_of
from gradsurge.experiments.prediction.voxel_files import write_map, write_mask
from gradsurge.experiments.preparing import prepare


@dataclass(frozen=True)
class HeldOut:
    """Cases that no training saw, as files.

    Attributes:
        split: of the store: "test", or "validation" where there is no test set.
        names: of the cases.
        labels: folder of their labels.
        images: folder of their scans, for pictures.
        posterior: folder of the true posterior's maps; None for real data.
        threshold: for the posterior's masks, from the validation cases; None for real data.
    """

    split: str
    names: list[str]
    labels: Path
    images: Path
    posterior: Path | None
    threshold: float | None = None


def prepare_store(plan: DemoPlan, out: Path, watcher: Watcher) -> tuple[Store, list[str]]:
    """Bring the store up to date; what is there already is kept.

    Returns:
        The store, and a line for each case that could not be prepared.

    Raises:
        ValueError: the raw folder has no case, or cannot be read.
    """
    watcher.stage("preparing the cases", 1)
    raw = Path() if plan.raw is None else Path(plan.raw)
    number = 0

    def on_tasks(total: int) -> None:
        watcher.stage("preparing the cases", total)

    def on_case(_: object) -> None:
        nonlocal number
        number += 1
        watcher.done(number)

    done = prepare(
        _dataset(plan),
        raw,
        out / STORE,
        seed=plan.seed,
        on_tasks=on_tasks,
        on_case=on_case,
    )
    return Store.open(out / STORE), [f"{case}: {problem}" for case, problem in done.failures]


def write_held_out(store: Store, out: Path) -> HeldOut:
    """Write labels, scans and true posteriors of the held-out cases beside each other.

    Raises:
        ValueError: there are none.
    """
    splits = store.splits
    split = "test" if splits.get("test") else "validation"
    names = splits.get(split, [])
    if not names:
        raise ValueError(f"{shown(store.path)}: neither test nor validation cases to measure on")
    cases = [store.case(name) for name in names]
    phantoms = all(case.grid is None for case in cases)
    posterior = out / PREDICTIONS / POSTERIOR if phantoms else None
    labels, images = out / LABELS, out / IMAGES
    for folder in (labels, images, posterior):
        if folder is not None:
            _make_room(folder, store.cases)
    for case in cases:
        if posterior is not None:
            _write_phantom(case, labels, images, posterior)
        else:
            _copy_source(case, labels, images)
    threshold = None if posterior is None else posterior_threshold(store)
    return HeldOut(split, names, labels, images, posterior, threshold)


def _dataset(plan: DemoPlan) -> Dataset:
    if plan.phantom is not None:
        return PhantomSet(plan.phantom, plan.cases, plan.size, plan.seed)
    return make_dataset("nnunet", {})


def _make_room(folder: Path, cases: Sequence[str]) -> None:
    """Remove what an earlier call wrote there; what a user put there is named otherwise."""
    folder.mkdir(parents=True, exist_ok=True)
    ours = {f"{case}{suffix}" for case in cases for suffix in READERS}
    for file in folder.iterdir():
        if file.name in ours and not file.is_dir():
            file.unlink()


def _write_phantom(case: StoredCase, labels: Path, images: Path, posterior: Path) -> None:
    frame, file = frame_of(None, None, case.spacing), f"{case.name}.nii.gz"
    write_mask(labels / file, case.read_label(), frame)
    write_map(images / file, iter(case.read_image()[:1]), 1, frame, 32)
    write_map(posterior / file, iter(case.read_extra("posterior")), 1, frame, 32)


def _copy_source(case: StoredCase, labels: Path, images: Path) -> None:
    files = case.source_files
    try:
        for role, folder in (("label", labels), ("image", images)):
            source = files[role]
            shutil.copyfile(source, folder / f"{case.name}{suffix_of(source)}")
    except (KeyError, FileNotFoundError) as error:
        raise CaseError(f"{case.name}: its raw files are gone: {error}") from error
