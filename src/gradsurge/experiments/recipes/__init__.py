"""Recipes: the protocols of studies, one TOML file each."""

from gradsurge.experiments.recipes.limited_store import limit_cases
from gradsurge.experiments.recipes.parts import DataPart, EvaluationPart, Search, TablePart
from gradsurge.experiments.recipes.point_slugs import point_slug
from gradsurge.experiments.recipes.read_data import make_recipe_dataset
from gradsurge.experiments.recipes.read_tables import TABLES
from gradsurge.experiments.recipes.reading import read_recipe
from gradsurge.experiments.recipes.recipe import SCALES, Recipe, study_name
from gradsurge.experiments.recipes.requests import SEED
from gradsurge.experiments.recipes.shipped import find_recipe, shipped_recipes
from gradsurge.experiments.recipes.space import Choice, Range, Space
from gradsurge.experiments.recipes.variant import Variant

__all__ = [
    "SCALES",
    "SEED",
    "TABLES",
    "Choice",
    "DataPart",
    "EvaluationPart",
    "Range",
    "Recipe",
    "Search",
    "Space",
    "TablePart",
    "Variant",
    "find_recipe",
    "limit_cases",
    "make_recipe_dataset",
    "point_slug",
    "read_recipe",
    "shipped_recipes",
    "study_name",
]
