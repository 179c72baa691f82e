"""A run that a study needs: a variant at a point, in a folder of its own."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gradsurge.experiments.recipes import Recipe, Variant
from gradsurge.experiments.runs.planning import RunRequest
from gradsurge.experiments.search.trial_runs import RUNS
from gradsurge.experiments.study.digests import wanted_digest
from gradsurge.experiments.study.measure_settings import MeasureSettings

_WITH_LESIONS = ("6", "volume")
_WITH_SHIFT = ("shift",)


@dataclass(frozen=True)
class PlannedRun:
    """A run whose numbers go into tables.

    Attributes:
        variant: of the recipe.
        name: of its folder, in runs/<variant>/, and of its record.
        point: the chosen values, perhaps with "training.seed".
        init: name of the run of ``variant.init`` that it goes on from.
    """

    variant: Variant
    name: str
    point: Mapping[str, Any]
    init: str | None = None

    @property
    def title(self) -> str:
        """What a user sees."""
        return f"{self.variant.name} {self.name}"

    def folder(self, study: Path) -> Path:
        """Return its folder in that of a study."""
        return study / RUNS / self.variant.name / self.name

    def request(self, recipe: Recipe, study: Path) -> RunRequest:
        """Return what is trained.

        Raises:
            ValueError: the recipe and the point do not go together.
        """
        start = None
        if self.variant.init is not None:
            start = study / RUNS / self.variant.init / (self.init or self.name)
        return recipe.request(self.variant, self.point, init=start)

    def settings(self, recipe: Recipe) -> MeasureSettings:
        """Return how it is measured: what all tables of the recipe that it is in need.

        Not only the tables that are asked for: its record then serves every one of them.
        """
        tables = {
            name for name, part in recipe.tables.items() if self.variant.name in part.variants
        }
        lesions = bool(tables.intersection(_WITH_LESIONS))
        return MeasureSettings(
            regions=recipe.evaluation.regions,
            lesions=lesions,
            lesion_edges=recipe.evaluation.lesion_edges if lesions else None,
            shift=bool(tables.intersection(_WITH_SHIFT)),
        )

    def wanted(self, recipe: Recipe, *, as_said: bool = False) -> str:
        """Return the digest of what is asked for, which its record must bear."""
        request, settings = self.request(recipe, Path()), self.settings(recipe)
        return wanted_digest(recipe.data, self.variant, request, settings, as_said=as_said)
