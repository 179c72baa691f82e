"""From a recipe's file to a recipe, every mistake named."""

import tomllib
from pathlib import Path
from typing import Any

from gradsurge.data.case_error import printable, shown
from gradsurge.experiments.recipes.read_data import dimensions_of, read_data
from gradsurge.experiments.recipes.read_run import RUN, read_run
from gradsurge.experiments.recipes.read_search import KEYS as SEARCH
from gradsurge.experiments.recipes.read_search import check_search, read_search
from gradsurge.experiments.recipes.read_tables import (
    EVALUATION,
    TABLES,
    read_evaluation,
    read_tables,
)
from gradsurge.experiments.recipes.read_variants import read_variants
from gradsurge.experiments.recipes.recipe import SCALES, Recipe
from gradsurge.experiments.recipes.scales import (
    FULL,
    merged,
    scale_sections,
    with_fewer_seeds,
)
from gradsurge.experiments.recipes.section import Mistake, Section, did_you_mean
from gradsurge.experiments.recipes.shipped import find_recipe

_DATA = ("dataset", "settings", "source", "cases")
_KEYS = ("title", "data", "run", "search", "variants", "tables", "evaluation", "scale")


def read_recipe(name_or_file: str, scale: str = FULL) -> Recipe:
    """Read a recipe and bring it to a scale.

    All scales of the file are checked, whichever is asked for.

    Args:
        name_or_file: a shipped name (`shipped_recipes`), or the path of a TOML file.
        scale: one of `SCALES`; "paper" is the recipe as it stands.

    Raises:
        ValueError: one line with file, dotted key, what was expected and what came.

    >>> fives = read_recipe("fives")
    >>> fives.search.trials, fives.search.keep
    (25, 5)
    """
    if scale not in SCALES:
        raise ValueError(f"scale: unknown {scale!r}; {did_you_mean(str(scale), SCALES)}")
    file = find_recipe(str(name_or_file))
    content = _parse(file)
    recipes = {}
    for name in (FULL, *SCALES):  # the full one first: mistakes of the others are then theirs
        prefix = "" if name == FULL else f"scale.{name}."
        try:
            whole = Section(content, "", _KEYS)
            recipes[name] = _build(content, scale_sections(whole)[name], file, name)
        except Mistake as error:
            said = str(error)
            prefix = "" if said.startswith("scale.") else prefix
            raise ValueError(f"{shown(file)}: {prefix}{printable(said)}") from error
    return recipes[scale]


def _build(content: dict[str, Any], scale: Section, file: Path, name: str) -> Recipe:
    changes = {key: value for key, value in scale.content.items() if key != "seeds"}
    whole = Section(merged(content, changes), "")
    data = read_data(whole.section("data", _DATA))
    run = read_run(whole.section("run", RUN), dimensions_of(data))
    search = read_search(whole.section("search", SEARCH))
    variants = read_variants(whole.section("variants"), run)
    check_search(search, variants, run)
    tables = read_tables(whole.section("tables", TABLES), variants)
    return Recipe(
        name=file.stem,
        title=whole.text("title"),
        file=file,
        scale=name,
        data=data,
        run=run,
        search=search,
        variants=with_fewer_seeds(variants, scale),
        tables=tables,
        evaluation=read_evaluation(whole.section("evaluation", EVALUATION), tables),
    )


def _parse(file: Path) -> dict[str, Any]:
    """Return what is in a TOML file.

    Raises:
        ValueError: it cannot be read, or is no TOML; with the line.
    """
    try:
        return tomllib.loads(file.read_bytes().decode("utf-8"))
    except OSError as error:
        raise ValueError(f"{shown(file)}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{shown(file)}: expected text in UTF-8 ({error.reason})") from error
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{shown(file)}: not TOML: {printable(str(error))}") from error
