"""What can be refused before a demo writes anything."""

from pathlib import Path

from gradsurge.data.case_error import shown
from gradsurge.data.datasets.nnunet_description import read_description
from gradsurge.data.store import Store
from gradsurge.experiments.demo.folder import OURS
from gradsurge.experiments.demo.plan import DemoPlan
from gradsurge.training import make_fabric


def check_demo(plan: DemoPlan, out: Path, device: str) -> None:
    """Refuse data, a folder or a device that cannot be used.

    Raises:
        ValueError: the raw folder is not nnU-Net's, its labels cannot be measured, it shares a
            place with ``out``, or there is no such device.
    """
    make_fabric(device)
    if plan.raw is None:
        return
    raw = Path(plan.raw)
    _check_apart(raw, out)
    if read_description(raw / "dataset.json").ignore is not None:
        raise ValueError(
            f"{shown(raw)}: has an ignore label, which a demo does not measure; use gradsurge "
            f"prepare, train, predict, and evaluate with --region mask"
        )


def check_splits(store: Store, raw: str | None) -> None:
    """Refuse data that leave nothing to train, to validate or to measure on.

    Raises:
        ValueError: there are too few cases.
    """
    splits = store.splits
    lacking = [name for name in ("train", "validation") if not splits.get(name)]
    if lacking:
        place = store.path if raw is None else Path(raw)
        raise ValueError(
            f"{shown(place)}: {len(store.cases)} usable cases, which leave none for "
            f"{' and '.join(lacking)}; add cases (it takes three), or say in splits_final.json "
            f"which to use, and run the same command again"
        )


def _check_apart(raw: Path, out: Path) -> None:
    """Refuse results among raw data, and raw data where results go and are removed."""
    data, place = raw.resolve(), out.resolve()
    if place.is_relative_to(data) or any(data.is_relative_to(place / name) for name in OURS):
        raise ValueError(
            f"--out: {shown(out)} must not share a place with --data {shown(raw)}; choose another "
            f"--out"
        )
