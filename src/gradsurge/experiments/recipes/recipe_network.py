"""The network of a recipe, as far as it is known without a store."""

from collections.abc import Mapping
from typing import Any

from gradsurge.experiments.runs.presets import PRESETS
from gradsurge.models import ModelConfig, plan_model, round_patch


def plan_recipe_network(run: Mapping[str, Any], axes: int) -> ModelConfig:
    """Return the network for one channel and two classes, on the recipe's patch or a usual one.

    Args:
        run: of the recipe.
        axes: of the data.

    Raises:
        ValueError, TypeError: its options do not go together.
    """
    preset = PRESETS[run["preset"]]
    name = run.get("model") or preset.model
    options = preset.options_of(name, axes, run.get("model_options", {}))
    patch = run.get("patch") or preset.patch.get(axes)
    if patch is None:
        side = round(preset.voxels[axes] ** (1 / axes))
        patch = round_patch(name, (side,) * axes, **options)
    return plan_model(name, 1, 2, tuple(patch), **options)


def patches_of_step(run: Mapping[str, Any], axes: int) -> int:
    """Return how many patches a step learns from: those of a batch, times the batches."""
    patches = PRESETS[run["preset"]].patches_of(axes, run.get("patches", {}))
    return int(patches["batch"]) * int(run.get("training", {}).get("accumulate", 1))
