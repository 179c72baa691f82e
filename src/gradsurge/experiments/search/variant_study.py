"""The study that searches one variant of a recipe."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradsurge.experiments.recipes import Recipe, Variant, study_name
from gradsurge.experiments.search.folder_mark import shared_name
from gradsurge.experiments.search.points import draw_points
from gradsurge.experiments.search.shared_study import open_study

if TYPE_CHECKING:
    from optuna import Study


def points_of(recipe: Recipe, variant: Variant, trials: int | None = None) -> list[dict[str, Any]]:
    """Return the points that are tried for a variant.

    Args:
        recipe: the protocol.
        variant: of the recipe.
        trials: how many, of a random search; as the recipe says if None.

    Raises:
        ValueError: nothing is searched for this variant, or a grid cannot have that many.
    """
    if variant.point_of is not None:
        raise ValueError(
            f"{variant.name}: nothing is searched for it, it takes the point of "
            f"{variant.point_of}; search that one, then gradsurge reproduce {recipe.name}"
        )
    search = recipe.search
    if trials is not None and search.kind == "grid":
        points = draw_points(search, recipe.space_of(variant))
        raise ValueError(
            f"trials: {recipe.name} tries the {len(points)} points of a grid, got {trials}; leave "
            f"--trials out"
        )
    chosen = search if trials is None else replace(search, trials=trials)
    return draw_points(chosen, recipe.space_of(variant))


def join_study(
    recipe: Recipe, variant: Variant, folder: Path, storage: str, trials: int | None = None
) -> "Study":
    """Create or join the study of a variant.

    Args:
        recipe: the protocol.
        variant: of the recipe.
        folder: of the search, the same for all workers.
        storage: path of a journal file, or postgresql://user@host/database.
        trials: how many points, as of `points_of`.

    Raises:
        ValueError: see `points_of` and `open_study`.
    """
    points = points_of(recipe, variant, trials)
    name = shared_name(study_name(recipe, variant), folder, storage)
    return open_study(storage, name, points, space=recipe.space_of(variant))
