"""The data of a recipe: checked by making the data set, which is cheap."""

from collections.abc import Mapping
from typing import Any

from gradsurge.data.datasets import DATASETS, Dataset
from gradsurge.data.datasets.making import make_dataset
from gradsurge.data.datasets.phantom_set import PhantomSet
from gradsurge.data.phantoms import PHANTOMS
from gradsurge.experiments.recipes.kinds import kinds_of
from gradsurge.experiments.recipes.parts import DataPart
from gradsurge.experiments.recipes.section import Section, refusal

SPLITS = ("train", "validation", "test")


def read_data(section: Section) -> DataPart:
    """Return the part "data" of a recipe.

    Raises:
        Mistake: a key, a name or a setting cannot be meant.
    """
    name = section.choice("dataset", (*DATASETS, *PHANTOMS))
    kind = PhantomSet if name in PHANTOMS else DATASETS[name]
    settings = section.section("settings", kinds_of(kind, "phantom"))
    part = DataPart(name, settings.content, section.text("source", ""), _cases(section))
    try:
        make_recipe_dataset(part)
    except (ValueError, TypeError) as error:
        raise refusal(settings.path, settings.content, str(error)) from error
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
    seed = settings.get("seed", 0)
    if seed < 0:
        raise ValueError(f"seed: expected a whole number of 0 or above, got {seed!r}")
    return PhantomSet(data.dataset, settings.get("cases", 100), settings.get("size"), seed)


def dimensions_of(data: DataPart) -> int | None:
    """Return the number of axes; None if only the raw folder tells."""
    return getattr(make_recipe_dataset(data), "dimensions", None)


def _typed(value: Any) -> str:
    """Return a setting as it would be typed after ``gradsurge prepare --set``."""
    return ",".join(map(str, value if isinstance(value, list) else [value]))


def _cases(section: Section) -> Mapping[str, int] | None:
    """Return split -> most cases; one number in the file stands for every split."""
    value = section.content.get("cases")
    if value is None:
        return None
    if not isinstance(value, dict):
        return dict.fromkeys(SPLITS, section.whole("cases"))
    of_splits = section.section("cases", SPLITS)
    return {split: of_splits.whole(split) for split in of_splits.content}
