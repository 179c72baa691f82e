"""The folder of a study.

```
study.json      recipe, title, scale, what of them must not change, phantoms in place of the data
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
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from gradsurge.data.case_error import shown
from gradsurge.data.store import Store, replace_json
from gradsurge.experiments.recipes import Recipe
from gradsurge.experiments.runs.run_folder import flatten
from gradsurge.experiments.study.digests import as_kept, cases_digest, fixed_settings
from gradsurge.experiments.study.store_check import stands_in
from gradsurge.losses.strength import PAPER

STUDY, STORE, TABLES = "study.json", "store", "tables"
FORMAT = "gradsurge study"
_SETTINGS, _CASES, _PHANTOMS = "settings", "cases", "phantoms"


def enter_study(folder: Path, recipe: Recipe, store: Store) -> None:
    """Make the folder of a study, or find that the same study goes on there.

    Args:
        folder: of the study.
        recipe: the whole one.
        store: its cases, limited to those of the recipe's scale.

    Raises:
        ValueError: it holds a study of another recipe, scale or store, or the recipe has changed.
    """
    check_entry(folder, recipe, store)
    folder.mkdir(parents=True, exist_ok=True)
    there, cases = _read(folder / STUDY), cases_digest(store)
    settings = {**there.get(_SETTINGS, {}), **fixed_settings(recipe)}
    about = {"format": FORMAT, "recipe": recipe.name, "title": recipe.title, "scale": recipe.scale}
    if stands_in(store, recipe):
        about[_PHANTOMS] = store.dataset.name
    content = {**about, _CASES: cases, _SETTINGS: settings}
    if content != there:
        replace_json(folder / STUDY, content)


def check_entry(folder: Path, recipe: Recipe, store: Store) -> None:
    """Raise what `enter_study` raises, and write nothing."""
    check_study(folder, recipe)
    cases = cases_digest(store)
    if _read(folder / STUDY).get(_CASES, cases) != cases:
        raise ValueError(
            f"{shown(store.path)}: has other cases or splits than the store that the study in "
            f"{shown(folder)} was begun with; give that one, or choose another --out"
        )


def check_study(folder: Path, recipe: Recipe) -> None:
    """Raise ValueError if a folder holds the study of another recipe or scale, or of other runs."""
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
    kept = there.get(_SETTINGS, {})
    for part, now in fixed_settings(recipe).items():
        if part in kept:
            _compare(folder, part, as_kept(part, kept[part]), as_kept(part, now))


def dataset_of(folder: Path) -> str | None:
    """Return the name of the data set that the study in a folder is of; None if nothing tells."""
    found: Any = _read(folder / STUDY)
    if isinstance(phantoms := found.get(_PHANTOMS), str):
        return phantoms
    for name in (_SETTINGS, "data", "dataset"):
        found = found.get(name) if isinstance(found, dict) else None
    return found if isinstance(found, str) else None


def with_told_title(recipe: Recipe, folder: Path) -> Recipe:
    """Return the recipe of the study in a folder; its title tells of phantoms that stand in."""
    phantoms = _read(folder / STUDY).get(_PHANTOMS)
    if not isinstance(phantoms, str):
        return recipe
    return replace(recipe, title=f"{recipe.title} (phantoms {phantoms} in its place)")


def study_title(folder: Path, recipe: str) -> str:
    """Return what a figure calls the study in a folder; the recipe's name if nothing tells more.

    Args:
        folder: of the study.
        recipe: its name.
    """
    found = _read(folder / STUDY)
    if found.get("recipe") != recipe:
        return recipe
    title = found.get("title")  # studies of before have none
    known = title if isinstance(title, str) else recipe
    return f"{known} on phantoms" if isinstance(found.get(_PHANTOMS), str) else known


def _compare(folder: Path, part: str, there: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    """Raise with the first setting that runs in the folder were made with, and now is another."""
    its, mine = flatten(there), flatten(now)
    for name in [*its, *(name for name in mine if name not in its)]:
        before, asked = its.get(name, "not set"), mine.get(name, "not set")
        if before != asked:
            cure = "the recipe as it was"
            if name.removeprefix("loss_options.") in PAPER:
                cure = "say loss_options = { paper = true } there for what older versions did"
            raise ValueError(
                f"{shown(folder)}: its study was begun with {part}.{name} {before!r}, the recipe "
                f"says {asked!r}; choose another --out, or {cure}"
            )


def _read(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
