"""From a variant and a point to a run."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gradsurge.experiments.recipes.space import Space
from gradsurge.experiments.recipes.variant import Variant
from gradsurge.experiments.runs.planning import RunRequest
from gradsurge.experiments.runs.presets import PRESETS

SEED = "training.seed"
_WITH_INIT = ("model", "model_options", "patch")  # those of the run it goes on from


def make_request(
    run: Mapping[str, Any],
    variant: Variant,
    space: Space,
    point: Mapping[str, Any],
    share: float,
    init: Path | None,
) -> RunRequest:
    """Return the run of a variant at a point; see `Recipe.request`."""
    _check_point(variant, space, point)
    if not 0 < share <= 1:
        raise ValueError(f"share: expected a number above 0, up to 1, got {share!r}")
    if (init is None) != (variant.init is None):
        raise ValueError(
            f"init: {variant.name} starts from "
            + ("nothing, got a folder" if variant.init is None else f"a run of {variant.init}")
        )
    fields = {k: v for k, v in run.items() if init is None or k not in _WITH_INIT}
    fixed = {**run.get("training", {}), **variant.training, **_part("training", point)}
    fields["training"] = _with_steps(fixed, run.get("preset", "quick"), share * variant.share)
    return RunRequest(
        loss=variant.loss,
        loss_options={**variant.loss_options, **_part("loss", point)},
        surgery=variant.surgery,
        init=init,
        **fields,
    )


def _check_point(variant: Variant, space: Space, point: Mapping[str, Any]) -> None:
    if point.keys() - {SEED} != space.keys() - {SEED}:
        raise ValueError(
            f"point: {variant.name} is searched over {', '.join(space) or 'nothing'}, "
            f"got {', '.join(point) or 'nothing'}"
        )


def _part(part: str, point: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values for one part of the run, without the dotted prefix.

    >>> _part("loss", {"loss.a": 0.3, "training.seed": 1})
    {'a': 0.3}
    """
    return {
        name.removeprefix(f"{part}."): value
        for name, value in point.items()
        if name.startswith(f"{part}.")
    }


def _with_steps(training: Mapping[str, Any], preset: str, share: float) -> dict[str, Any]:
    """Return the settings for a share of the steps; what must stay below them follows."""
    all_steps = training.get("steps", PRESETS[preset].training["steps"])
    steps = max(1, round(all_steps * share))
    scaled = {**training, "steps": steps}
    for name in ("validate_every", "checkpoint_every"):
        if name in training:
            scaled[name] = min(training[name], steps)
    if "warmup" in training:
        scaled["warmup"] = min(round(training["warmup"] * share), steps - 1)
    return scaled
