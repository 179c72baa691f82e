"""Parts of a recipe beside its variants: data, search, tables, evaluation."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from gradsurge.experiments.evaluation.settings import Profile
from gradsurge.experiments.recipes.space import Space


@dataclass(frozen=True)
class DataPart:
    """Which data.

    Attributes:
        dataset: a name that ``gradsurge prepare`` takes: a data set or a phantom.
        settings: its options: {"shrink": 2}; {"cases": 100, "size": [128, 128]} of a phantom.
        source: where to get it.
        cases: split -> most cases of it that are used; None for all. See `limit_cases`.
    """

    dataset: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""
    cases: Mapping[str, int] | None = None


@dataclass(frozen=True)
class Search:
    """How the points of a variant are chosen.

    Attributes:
        kind: "random" draws ``trials`` points; the runs of the ``keep`` best are the result.
            "grid" tries every combination at seed 0, then trains the best with every seed.
        trials: how many points; of a grid, without what a variant searches for itself.
        keep: how many of them are reported; 1 for a grid.
        seed: of the draws.
        space: what is searched for all variants.
        share: of a grid: part of the steps with which the points are tried.
    """

    kind: Literal["random", "grid"]
    trials: int
    keep: int
    seed: int = 0
    space: Space = field(default_factory=dict)
    share: float = 1.0


@dataclass(frozen=True)
class TablePart:
    """One table of a recipe.

    Attributes:
        variants: names of its rows, in order.
        published: name of the block in the published table of that number; None for none.
    """

    variants: tuple[str, ...]
    published: str | None = None


@dataclass(frozen=True)
class EvaluationPart:
    """How runs are measured.

    Attributes:
        profile: which scores the tables show; both are always computed.
        regions: voxels that count.
        lesion_edges: borders of the size classes, in mm³ (mm² in 2D); quartiles if None.
    """

    profile: Profile = "foreground"
    regions: tuple[Literal["all", "active"], ...] = ("all", "active")
    lesion_edges: tuple[float, ...] | None = None
