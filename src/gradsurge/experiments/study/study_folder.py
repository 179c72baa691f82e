"""The folder of a study.

```
study.json      recipe and scale
search.journal  which points wait, run, are done; with a database, search.mark instead
workers/        who is at work, on this machine
store/          the prepared cases, where the command has prepared them
runs/           <variant>/<run>: trainings, each an ordinary run of gradsurge train
records/        <variant>/<run>.json and .npz: a run measured, small
tables/         every table as Markdown, LaTeX, CSV and HTML, and summary.md
```

Records and tables are small and tell everything: they can be committed, and tables be made of them
without store and runs.
"""

import json
from pathlib import Path
from typing import Any

from gradsurge.data.case_error import shown
from gradsurge.data.store import replace_json
from gradsurge.experiments.recipes import Recipe

STUDY, STORE, TABLES = "study.json", "store", "tables"
FORMAT = "gradsurge study"


def enter_study(folder: Path, recipe: Recipe) -> None:
    """Make the folder of a study, or find that the same study goes on there.

    Raises:
        ValueError: it holds a study of another recipe or scale.
    """
    check_study(folder, recipe)
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / STUDY).exists():
        about = {"format": FORMAT, "recipe": recipe.name, "scale": recipe.scale}
        replace_json(folder / STUDY, about)


def check_study(folder: Path, recipe: Recipe) -> None:
    """Raise ValueError if a folder holds the study of another recipe or scale."""
    file = folder / STUDY
    if not file.exists():
        return
    there = _read(file)
    if there.get("format") != FORMAT:
        raise ValueError(f"{shown(file)}: not of a study; choose another --out")
    for name, asked in (("recipe", recipe.name), ("scale", recipe.scale)):
        if there.get(name) != asked:
            raise ValueError(
                f"{shown(folder)}: holds a study with {name} {there.get(name)!r}, got {asked!r}; "
                f"choose another --out"
            )


def _read(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
