"""A recipe: the protocol of a study on one data set."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradsurge.experiments.recipes.parts import DataPart, EvaluationPart, Search, TablePart
from gradsurge.experiments.recipes.requests import make_request
from gradsurge.experiments.recipes.space import Space
from gradsurge.experiments.recipes.variant import Variant
from gradsurge.experiments.runs.planning import RunRequest

SCALES = ("smoke", "small", "paper")


@dataclass(frozen=True)
class Recipe:
    """The protocol of a study, read and checked by `read_recipe`.

    Attributes:
        name: of its file, without the ending.
        title: what tables call the data.
        file: where it was read from.
        scale: one of `SCALES`; "paper" is the recipe as it stands.
        data: which data.
        run: fields of `RunRequest` but loss, loss_options, surgery and init.
        search: how points are chosen.
        variants: what is compared, in the order of the tables' rows.
        tables: "1" to "8", or one of our own names -> its rows.
        evaluation: how runs are measured.
    """

    name: str
    title: str
    file: Path
    scale: str
    data: DataPart
    run: Mapping[str, Any]
    search: Search
    variants: tuple[Variant, ...]
    tables: Mapping[str, TablePart]
    evaluation: EvaluationPart

    def variant(self, name: str) -> Variant:
        """Return the variant of that name.

        Raises:
            ValueError: there is none.
        """
        for variant in self.variants:
            if variant.name == name:
                return variant
        listed = ", ".join(variant.name for variant in self.variants)
        raise ValueError(f"{self.name}: no variant {name!r}; there are: {listed}")

    def variants_of(self, table: str) -> tuple[Variant, ...]:
        """Return the rows of a table.

        Raises:
            ValueError: the recipe has no such table.
        """
        if table not in self.tables:
            listed = ", ".join(self.tables)
            raise ValueError(f"{self.name}: no table {table!r}; there are: {listed}")
        return tuple(self.variant(name) for name in self.tables[table].variants)

    def space_of(self, variant: Variant) -> Space:
        """Return what a point of a variant holds: what all search, then what it searches itself.

        For a variant with ``point_of`` that is the other one's.
        """
        searched = variant if variant.point_of is None else self.variant(variant.point_of)
        return {**self.search.space, **searched.space}

    def request(
        self,
        variant: Variant,
        point: Mapping[str, Any],
        *,
        share: float = 1.0,
        init: Path | None = None,
    ) -> RunRequest:
        """Return the run of a variant at a point.

        Args:
            variant: of this recipe.
            point: a value for each name of `space_of`, and perhaps "training.seed".
            share: part of the steps, over that of the variant.
            init: folder of the run of ``variant.init`` that it goes on from.

        Raises:
            ValueError: the point does not fit the variant, or the start is missing or too many.
        """
        return make_request(self.run, variant, self.space_of(variant), point, share, init)


def study_name(recipe: Recipe, variant: Variant) -> str:
    """Return the name of the study that searches a variant: "fives/paper/dice-surgery"."""
    return f"{recipe.name}/{recipe.scale}/{variant.name}"
