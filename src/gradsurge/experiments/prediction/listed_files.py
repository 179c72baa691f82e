"""What ``predictions.json`` lists, for whoever reads a folder of predictions."""

import json
from pathlib import Path
from typing import Any

NAME = "predictions.json"
FORMAT, VERSION = "gradsurge predictions", 1
MASKS, LABELS = "masks", "labels"
_ROLES = ("probabilities", "mask", "label")


def listed_files(folder: Path) -> dict[str, dict[str, Path]]:
    """Return case -> role -> file of a folder of `gradsurge predict`; nothing of other folders.

    Roles are "probabilities", "mask" and, of phantoms, "label". Names that lead out of the folder
    are passed over. Whatever else is in the folder is not listed, and not ours.
    """
    try:
        told = json.loads((folder / NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(told, dict) or told.get("format") != FORMAT:
        return {}
    cases = told.get("cases")
    return {
        str(case.get("case")): {r: folder / case[r] for r in _ROLES if _is_inside(case.get(r))}
        for case in (cases if isinstance(cases, list) else [])
        if isinstance(case, dict)
    }


def _is_inside(name: Any) -> bool:
    """Tell whether a name is of the form that predictions have."""
    if not isinstance(name, str) or not name or "\0" in name:
        return False
    parts = Path(name).parts
    inside = len(parts) == 1 or (len(parts) == 2 and parts[0] in (MASKS, LABELS))
    return inside and not Path(name).is_absolute() and ".." not in parts and parts[-1] != NAME
