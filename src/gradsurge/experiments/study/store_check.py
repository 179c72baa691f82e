"""Whether a store is the one that a recipe asks for, or phantoms that stand in for it."""

import inspect
from typing import Any

from gradsurge.data.case_error import shown
from gradsurge.data.phantoms import PHANTOMS
from gradsurge.data.store import Store
from gradsurge.experiments.recipes import Recipe, make_recipe_dataset
from gradsurge.experiments.recipes.read_data import dimensions_of

SMOKE = "smoke"
_MEDIAN = "median"  # of which a store keeps the mm that came of it


def check_store(store: Store, recipe: Recipe) -> None:
    """Find that a store is prepared as the recipe says, or stands in for such a one.

    Options that the recipe leaves out have their defaults: a store prepared with others is
    another. Those that only choose the splits are not among them; a study keeps its cases.

    Raises:
        ValueError: with the first difference.
    """
    if stands_in(store, recipe):
        _check_axes(store, recipe)
        return
    name, wanted = store.dataset.name, recipe.data.dataset
    if name != wanted:
        raise ValueError(
            f"{shown(store.path)}: is a store of {name}, the recipe is for {wanted}; "
            f"{_what_to_do(name, recipe)}"
        )
    there = dict(store.dataset.settings)
    if is_of_phantoms(recipe):
        there["cases"] = len(store.cases)
    for key, value in _options(recipe).items():
        if key in there and not _agree(there[key], value):
            raise ValueError(
                f"{shown(store.path)}: was prepared with {key} {_told(there[key])}, the recipe "
                f"says {_told(value)}; give a store that was prepared so, or another --out"
            )


def stands_in(store: Store, recipe: Recipe) -> bool:
    """Tell whether a store is of phantoms that show, at the smallest scale, that a recipe runs."""
    real = not is_of_phantoms(recipe)
    return real and recipe.scale == SMOKE and store.dataset.name in PHANTOMS


def is_of_phantoms(recipe: Recipe) -> bool:
    """Tell whether the recipe's own data are phantoms."""
    return recipe.data.dataset in PHANTOMS


def _check_axes(store: Store, recipe: Recipe) -> None:
    axes, wanted = store.dataset.dimensions, dimensions_of(recipe.data)
    if wanted is not None and axes != wanted:  # nnU-Net's raw folder alone tells how many
        fitting = (name for name, phantom in PHANTOMS.items() if len(phantom.grid.size) == wanted)
        raise ValueError(
            f"{shown(store.path)}: its phantoms have {axes} axes, {recipe.data.dataset} has "
            f"{wanted}; give a store of {' or '.join(fitting)}"
        )


def _what_to_do(name: str, recipe: Recipe) -> str:
    if name not in PHANTOMS or is_of_phantoms(recipe):
        return "give another"
    return (
        f"give one of gradsurge prepare {recipe.data.dataset} RAW STORE; phantoms stand in for it "
        f"with --scale {SMOKE} alone"
    )


def _options(recipe: Recipe) -> dict[str, Any]:
    """Return all options of the recipe's data set, those that it leaves out among them."""
    made: Any = make_recipe_dataset(recipe.data)
    if is_of_phantoms(recipe):
        return {"cases": made.cases, **made.settings}
    names = inspect.signature(type(made)).parameters
    found = {name: getattr(made, name) for name in names if hasattr(made, name)}
    return found | ({"spacing": _MEDIAN} if getattr(made, "median", False) else {})


def _agree(stored: object, wanted: object) -> bool:
    if wanted == _MEDIAN:
        return stored is not None
    return _listed(stored) == _listed(wanted)


def _listed(value: object) -> object:
    return list(value) if isinstance(value, list | tuple) else value


def _told(value: object) -> str:
    return "none" if value is None else repr(_listed(value))
