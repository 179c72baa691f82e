"""The folder of a demo: what lies where, and whether a demo may write to it."""

import json
import shutil
from pathlib import Path
from typing import Any

from gradsurge.data.case_error import shown
from gradsurge.data.store import replace_json
from gradsurge.experiments.demo.plan import DemoPlan

PLAN, STORE, RUNS, PREDICTIONS = "demo.json", "store", "runs", "predictions"
LABELS, IMAGES, EVALUATION = "labels", "images", "evaluation"
REPORT, MAPS, RESULTS = "report.html", "maps.png", "results.json"
# The plan goes last when an older demo is removed: until then the folder is known to be one.
_OURS = (STORE, RUNS, PREDICTIONS, LABELS, IMAGES, EVALUATION, REPORT, MAPS, RESULTS, PLAN)
_FORMAT = "gradsurge demo"


def enter_folder(out: Path, plan: DemoPlan, *, overwrite: bool) -> None:
    """Make the folder of a demo, or find that the same demo is to go on there.

    Args:
        out: the folder. What is not of a demo stays as it is.
        plan: of the demo.
        overwrite: whether an older demo is removed first.

    Raises:
        ValueError: another demo is there, or files that would be overwritten.
    """
    before = _read_plan(out)
    if before is None:
        taken = [name for name in _OURS if (out / name).exists()]
        if taken:
            raise ValueError(
                f"{shown(out)}: holds {taken[0]}, which is not of a demo; choose another --out"
            )
    elif overwrite:
        _remove(out)
    elif (difference := plan.differs_from(before)) is not None:
        name, there, asked = difference
        raise ValueError(
            f"{shown(out)}: holds a demo with {name} {json.dumps(there)}, got "
            f"{json.dumps(asked)}; choose another --out, or replace it with --overwrite"
        )
    out.mkdir(parents=True, exist_ok=True)
    replace_json(out / PLAN, {"format": _FORMAT, "plan": plan.to_json()})


def _read_plan(out: Path) -> dict[str, Any] | None:
    """Return the plan of the demo that is there; None if there is none.

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
    plan = content.get("plan")
    return plan if isinstance(plan, dict) else {}


def _remove(out: Path) -> None:
    for name in _OURS:
        place = out / name
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        else:
            place.unlink(missing_ok=True)
