"""Where recipes are: those that come with gradsurge, and any file."""

from importlib.resources import files
from pathlib import Path

from gradsurge.data.case_error import printable, shown
from gradsurge.experiments.recipes.section import did_you_mean


def shipped_recipes() -> tuple[str, ...]:
    """Return the names of the recipes that come with gradsurge.

    >>> "fives" in shipped_recipes()
    True
    """
    return tuple(sorted(file.stem for file in _folder().glob("*.toml")))


def find_recipe(name_or_file: str) -> Path:
    """Return the file of a recipe.

    Args:
        name_or_file: a shipped name, or a path: whatever ends in .toml or names a folder.

    Raises:
        ValueError: there is no such name or file.
    """
    path = Path(name_or_file)
    is_path = path.suffix == ".toml" or path.name != name_or_file
    if is_path and not path.is_file():
        raise ValueError(f"{shown(path)}: no such recipe file")
    if is_path:
        return path
    if name_or_file not in (names := shipped_recipes()):
        raise ValueError(
            f"recipe: unknown {printable(name_or_file)!r}; {did_you_mean(name_or_file, names)}; "
            f"or give the path of a .toml file"
        )
    return _folder() / f"{name_or_file}.toml"


def _folder() -> Path:
    """Return the folder of the recipes: inside the package, or beside src in the repository."""
    package = Path(str(files("gradsurge")))
    installed, beside = package / "recipes", package.parents[1] / "recipes"
    return installed if installed.is_dir() else beside
