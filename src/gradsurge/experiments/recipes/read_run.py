"""How every run of a recipe is made: the fields of `RunRequest` that a recipe may set."""

from collections.abc import Mapping
from typing import Any

from gradsurge.data.augmentation import AUGMENTATIONS
from gradsurge.data.patches import PatchSettings
from gradsurge.experiments.recipes.kinds import kinds_of
from gradsurge.experiments.recipes.recipe_network import plan_recipe_network
from gradsurge.experiments.recipes.section import Mistake, Section, refusal
from gradsurge.experiments.runs.planning import RunRequest
from gradsurge.experiments.runs.presets import PRESETS, find_preset
from gradsurge.models import MODELS
from gradsurge.models.primus import SIZES, plan_primus
from gradsurge.models.residual_unet_plan import plan_residual_unet
from gradsurge.training import TrainSettings

TRAINING = kinds_of(TrainSettings)
_PATCHES = kinds_of(PatchSettings, "size")
RUN = kinds_of(RunRequest, "loss", "loss_options", "surgery", "init")


def read_run(section: Section, dimensions: int | None) -> dict[str, Any]:
    """Return the part "run" of a recipe.

    Args:
        section: with the keys `RUN`.
        dimensions: of the data, if known.

    Raises:
        Mistake: a key or a value cannot be meant.
    """
    run = dict(section.content)
    run["preset"] = section.choice("preset", PRESETS)
    section.choice("model", MODELS, None)
    section.choice("augmentation", AUGMENTATIONS, None)
    section.whole("validation_cases", None)
    if "patch" in run:
        run["patch"] = _patch(section)
    patches = section.section("patches", _PATCHES)
    _try(patches, PatchSettings, size=(8, 8), **patches.content)
    axes = len(run["patch"]) if "patch" in run else dimensions
    if dimensions is not None and axes != dimensions:
        raise Mistake(
            section.at("patch"), f"expected {dimensions} sizes, as the data have axes, got {axes}"
        )
    if axes is not None:
        _try(section, find_preset, run["preset"], axes)
    _check_model(section, run, axes or 3)
    run["training"] = read_training(section.section("training", TRAINING), run["preset"], {})
    return run


def read_training(section: Section, preset: str, below: Mapping[str, Any]) -> dict[str, Any]:
    """Return fields of `TrainSettings`, checked together with those that they stand above.

    Args:
        section: with keys among `TRAINING`.
        preset: its name.
        below: fields of the recipe, for those of a variant.

    Raises:
        Mistake: a value is out of range.
    """
    training = dict(section.content)
    if isinstance(training.get("betas"), list):
        training["betas"] = tuple(training["betas"])
    _try(section, try_training, preset, {**below, **training})
    return training


def try_training(preset: str, training: Mapping[str, Any]) -> None:
    """Raise unless a run of the preset takes these settings, each of the right kind."""
    # The preset's own warm-up gives way to fewer steps, see `plan_run`; a recipe's does not.
    of_preset = {k: v for k, v in PRESETS[preset].training.items() if k != "warmup"}
    TrainSettings(**{**of_preset, **training})


def _patch(section: Section) -> tuple[int, ...]:
    patch = tuple(section.content["patch"])
    try:
        PatchSettings(patch)
    except ValueError as error:
        raise Mistake(section.at("patch"), str(error).removeprefix("size: ")) from error
    return patch


def _check_model(section: Section, run: Mapping[str, Any], axes: int) -> None:
    """Plan the network, on the recipe's patch or on any, to see that its options go together."""
    preset = PRESETS[run["preset"]]
    name = run.get("model") or preset.model
    plan = plan_primus if name in SIZES else plan_residual_unet
    options = section.section("model_options", kinds_of(plan, "size", "patch", "spacing"))
    try:
        plan_recipe_network(run, axes)
    except (ValueError, TypeError) as error:
        said = str(error)
        if said.startswith("patch: ") and "patch" in run:
            raise refusal(section.path, run, said) from error
        path = options.path if options.content else section.at("model")
        raise refusal(path, options.content, said) from error


def _try(section: Section, made: Any, *arguments: Any, **settings: Any) -> None:
    """Call what refuses a value of the section that is out of range."""
    try:
        made(*arguments, **settings)
    except ValueError as error:
        raise refusal(section.path, section.content, str(error)) from error
