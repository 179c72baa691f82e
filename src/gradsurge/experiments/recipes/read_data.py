"""The data of a recipe: checked by making the data set, which is cheap."""

from collections.abc import Mapping
from typing import Any

from gradsurge.data.datasets import DATASETS, Dataset
from gradsurge.data.datasets.making import make_dataset
from gradsurge.data.datasets.phantom_set import PhantomSet
from gradsurge.data.phantoms import PHANTOMS
from gradsurge.experiments.recipes.parts import DataPart
from gradsurge.experiments.recipes.section import Mistake, Section, is_number, is_whole

SPLITS = ("train", "validation", "test")
_PHANTOM = ("cases", "size", "seed")


def read_data(section: Section) -> DataPart:
    """Return the part "data" of a recipe.

    Raises:
        Mistake: a key, a name or a setting cannot be meant.
    """
    name = section.choice("dataset", (*DATASETS, *PHANTOMS))
    settings = section.section("settings", _PHANTOM if name in PHANTOMS else None)
    part = DataPart(name, settings.content, section.text("source", ""), _cases(section))
    try:
        make_recipe_dataset(part)
    except (ValueError, TypeError) as error:
        raise Mistake(settings.path, str(error)) from error
    return part


def make_recipe_dataset(data: DataPart) -> Dataset:
    """Return the data set of a recipe, to be prepared with `gradsurge.experiments.preparing`.

    >>> make_recipe_dataset(DataPart("nnunet", {"spacing": [1, 1, 2.5]})).spacing
    (1.0, 1.0, 2.5)

    Raises:
        ValueError: it has no such setting, or not with this value.
    """
    settings = data.settings
    if data.dataset not in PHANTOMS:
        return make_dataset(data.dataset, {name: _typed(v) for name, v in settings.items()})
    for name in ("cases", "seed"):
        number = settings.get(name, 1)
        if not is_whole(number) or number < 0:
            raise ValueError(f"{name}: expected a whole number of 0 or above, got {number!r}")
    size = settings.get("size")
    if size is not None and not (isinstance(size, list) and all(map(is_whole, size))):
        raise ValueError(f"size: expected a list of whole numbers, got {size!r}")
    return PhantomSet(data.dataset, settings.get("cases", 100), size, settings.get("seed", 0))


def dimensions_of(data: DataPart) -> int | None:
    """Return the number of axes; None if only the raw folder tells."""
    return getattr(make_recipe_dataset(data), "dimensions", None)


def _typed(value: Any) -> str:
    """Return a setting as it would be typed after ``gradsurge prepare --set``."""
    parts = value if isinstance(value, list) else [value]
    for part in parts:
        if not isinstance(part, str) and not is_number(part):
            raise ValueError(f"expected texts and numbers, got {value!r}")
    return ",".join(map(str, parts))


def _cases(section: Section) -> Mapping[str, int] | None:
    """Return split -> most cases; one number in the file stands for every split."""
    value = section.content.get("cases")
    if value is None:
        return None
    if not isinstance(value, dict):
        return dict.fromkeys(SPLITS, section.whole("cases"))
    of_splits = section.section("cases", SPLITS)
    return {split: of_splits.whole(split) for split in of_splits.content}
