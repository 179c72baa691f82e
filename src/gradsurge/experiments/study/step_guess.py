"""How long a step takes where nothing was trained yet: its arithmetic over a usual rate."""

from collections.abc import Mapping
from typing import Any

from gradsurge.experiments.recipes import Recipe
from gradsurge.experiments.recipes.read_data import dimensions_of
from gradsurge.experiments.recipes.recipe_network import patches_of_step, plan_recipe_network
from gradsurge.experiments.runs.presets import PRESETS
from gradsurge.experiments.study.run_pace import Pace

# Operations a second that networks of this kind come to. Our own studies on two cores had 14 to
# 46 billion; one GPU of today is taken to have 10 million million in half precision.
_TWO_CORES, _ONE_GPU = 3e10, 1e13


def guessed_pace(recipe: Recipe) -> Pace:
    """Return the time of a step, said to be a guess."""
    operations = step_operations(recipe.run, _axes(recipe))
    # Small nets are meant for any machine, everything else is not.
    small = recipe.run["preset"] == "quick"
    machine, rate = ("two cores", _TWO_CORES) if small else ("one GPU", _ONE_GPU)
    about = f"{operations:.2g} operations a step; nothing was trained here yet"
    return Pace(operations / rate, f"a guess for {machine}: {about}")


def _axes(recipe: Recipe) -> int:
    """Return the axes of the data, as the patch, the data set or else the preset tells."""
    patch = recipe.run.get("patch", ())
    of_preset = next(iter(PRESETS[recipe.run["preset"]].patch), 3)
    return len(patch) or dimensions_of(recipe.data) or of_preset


def step_operations(run: Mapping[str, Any], axes: int) -> int:
    """Return the floating-point operations of a step's forward and backward pass.

    Args:
        run: of a recipe.
        axes: of the data.
    """
    import torch
    from torch.utils.flop_counter import FlopCounterMode

    from gradsurge.models import make_model

    config = plan_recipe_network(run, axes)
    with torch.device("meta"):  # shapes alone: nothing is computed
        network = make_model(config)
        image = torch.empty(patches_of_step(run, axes), 1, *config.patch)
    with FlopCounterMode(display=False) as counter:
        outputs = network(image)
        every = outputs if isinstance(outputs, list) else [outputs]
        torch.stack([logits.sum() for logits in every]).sum().backward()
    return int(counter.get_total_flops())
