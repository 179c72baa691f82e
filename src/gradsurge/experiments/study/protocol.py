"""What a recipe asks for: which variants a table needs, which points, which runs.

A grid tries every point with a share of the steps at seed 0, chooses the best by validation Dice,
and trains it with every seed. A random search trains all points and keeps the best. A variant with
``point_of`` takes the point that was chosen for another one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gradsurge.experiments.recipes import Recipe, Variant, point_slug
from gradsurge.experiments.recipes.requests import SEED
from gradsurge.experiments.search import draw_points
from gradsurge.experiments.study.planned_run import PlannedRun
from gradsurge.experiments.study.selection import Selection


@dataclass(frozen=True)
class Protocol:
    """The protocol of a recipe for some of its tables.

    Attributes:
        recipe: the recipe.
        tables: names of the tables that are asked for.
    """

    recipe: Recipe
    tables: Sequence[str]

    def measured(self) -> list[Variant]:
        """Return the rows of the tables, each once."""
        rows = (variant for table in self.tables for variant in self.recipe.variants_of(table))
        return list({variant.name: variant for variant in rows}.values())

    def needed(self) -> list[Variant]:
        """Return the rows, and before each the variants it starts from."""
        found: dict[str, Variant] = {}
        for variant in self.measured():
            chain = [variant]
            while (before := chain[0].init) is not None:
                chain.insert(0, self.recipe.variant(before))
            for one in chain:
                found.setdefault(one.name, one)
        return list(found.values())

    def searched(self, variant: Variant) -> Variant:
        """Return the variant whose search gives the point."""
        return variant if variant.point_of is None else self.recipe.variant(variant.point_of)

    def points(self, variant: Variant) -> list[dict[str, Any]]:
        """Return the points that are tried for a variant; none if there is nothing to choose."""
        searched = self.searched(variant)
        points = draw_points(self.recipe.search, self.recipe.space_of(searched))
        return points if len(points) > 1 else []

    def only_selection(self, variant: Variant) -> Selection:
        """Return the selection of a variant for which nothing is tried."""
        points = draw_points(self.recipe.search, self.recipe.space_of(self.searched(variant)))
        return Selection((), ((0, points[0]),))

    def runs(self, variant: Variant, selection: Selection) -> list[PlannedRun]:
        """Return the runs of a variant that tables are made of.

        Args:
            variant: of the recipe.
            selection: of `searched` of it.
        """
        if self.keeps_tries(variant):
            return [
                PlannedRun(variant, self._name(index, point), point)
                for index, point in selection.best
            ]
        index, point = selection.best[0]
        return [
            PlannedRun(variant, self._name(index, point, seed), {**point, SEED: seed})
            for seed in range(variant.seeds)
        ]

    def keeps_tries(self, variant: Variant) -> bool:
        """Tell whether the runs of tables are those of the search: nothing more is trained."""
        return self.recipe.search.kind == "random" and variant.point_of is None

    def try_name(self, index: int, point: Mapping[str, Any]) -> str:
        """Return the folder of a point while it is tried, as `TrialRuns` names it."""
        if self.recipe.search.kind == "random":
            return f"trial_{index:03d}"
        return point_slug(point) + ("_tried" if self.recipe.search.share < 1 else "")

    def _name(self, index: int, point: Mapping[str, Any], seed: int = 0) -> str:
        """Return the folder of a run: that of the try where it is the same training."""
        if self.recipe.search.kind == "grid":
            return point_slug({**point, SEED: seed})
        return f"trial_{index:03d}" + (f"_seed{seed}" if seed else "")
