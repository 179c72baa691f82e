"""The folder of a demo: what lies where, and whether a demo may write to it."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gradsurge.data.case_error import shown
from gradsurge.data.store import only_writer, replace_json
from gradsurge.experiments.demo.plan import DemoPlan

PLAN, STORE, RUNS, PREDICTIONS = "demo.json", "store", "runs", "predictions"
LABELS, IMAGES, EVALUATION = "labels", "images", "evaluation"
REPORT, MAPS, RESULTS = "report.html", "maps.png", "results.json"
# The plan goes last when an older demo is removed: until then the folder is known to be one.
OURS = (STORE, RUNS, PREDICTIONS, LABELS, IMAGES, EVALUATION, REPORT, MAPS, RESULTS, PLAN)
_FORMAT, _DATA = "gradsurge demo", "data"
_OPTIONS = {
    "request.training.steps": "--steps",
    "raw": "--data",
    "seed": "--seed",
}


def check_folder(out: Path, plan: DemoPlan, *, overwrite: bool) -> None:
    """Refuse a folder that a demo must not write to; nothing is touched.

    Args:
        out: the folder.
        plan: of the demo.
        overwrite: whether an older demo may be removed.

    Raises:
        ValueError: another demo is there, or files that would be overwritten.
    """
    stored = _read(out)
    if stored is None:
        taken = [name for name in OURS if (out / name).exists()]
        if taken:
            raise ValueError(
                f"{shown(out)}: holds {taken[0]}, which is not of a demo; choose another --out"
            )
    elif not overwrite and (difference := plan.differs_from(_plan_in(stored))) is not None:
        name, there, asked = difference
        raise ValueError(
            f"{shown(out)}: holds a demo with {_in_words(name)} {json.dumps(there)}, got "
            f"{json.dumps(asked)}; choose another --out, or replace it with --overwrite"
        )


def enter_folder(out: Path, plan: DemoPlan, *, overwrite: bool) -> None:
    """Make the folder of a demo, or find that the same demo is to go on there.

    Args:
        out: the folder. What is not of a demo stays as it is.
        plan: of the demo.
        overwrite: whether an older demo is removed first.

    Raises:
        ValueError: as `check_folder`.
    """
    check_folder(out, plan, overwrite=overwrite)
    if overwrite:
        _remove(out)
    out.mkdir(parents=True, exist_ok=True)
    data = (_read(out) or {}).get(_DATA)
    replace_json(out / PLAN, {"format": _FORMAT, "plan": plan.to_json(), _DATA: data})


def keep_data(out: Path, digest: str) -> None:
    """Note which data the models are of, or find that they are of these.

    Args:
        out: folder of the demo.
        digest: of its store, as it is now.

    Raises:
        ValueError: models were trained on other data.
    """
    stored = _read(out) or {}
    before, runs = stored.get(_DATA), out / RUNS
    if before not in (None, digest) and runs.is_dir() and any(runs.iterdir()):
        raise ValueError(
            f"{shown(out)}: the data changed since these models were trained; use --overwrite, or "
            f"choose another --out"
        )
    replace_json(out / PLAN, {**stored, _DATA: digest})


@contextmanager
def only_demo(out: Path) -> Iterator[None]:
    """Keep a second demo out of a folder, which is made if need be.

    Raises:
        ValueError: another one is at work there.
    """
    out.mkdir(parents=True, exist_ok=True)
    with only_writer(out, "demo"):
        yield


def _in_words(setting: str) -> str:
    """Name the option that says a setting, where there is one.

    >>> _in_words("request.training.steps"), _in_words("cases")
    ('--steps', 'cases')
    """
    option = _OPTIONS.get(setting)
    return setting if option is None else option


def _plan_in(stored: dict[str, Any]) -> dict[str, Any]:
    plan = stored.get("plan")
    return plan if isinstance(plan, dict) else {}


def _read(out: Path) -> dict[str, Any] | None:
    """Return the demo.json that is there; None if there is none.

    Raises:
        ValueError: a file of that name is something else.
    """
    file = out / PLAN
    if not file.exists():
        return None
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        content = None
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise ValueError(f"{shown(file)}: not the plan of a demo; choose another --out")
    return content


def _remove(out: Path) -> None:
    for name in OURS:
        place = out / name
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        else:
            place.unlink(missing_ok=True)
