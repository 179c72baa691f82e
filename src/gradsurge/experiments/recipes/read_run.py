"""How every run of a recipe is made: the fields of `RunRequest` that a recipe may set."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from gradsurge.data.augmentation import AUGMENTATIONS
from gradsurge.data.patches import PatchSettings
from gradsurge.experiments.recipes.section import Mistake, Section
from gradsurge.experiments.runs.planning import RunRequest
from gradsurge.experiments.runs.presets import PRESETS, find_preset
from gradsurge.models import MODELS, plan_model, round_patch
from gradsurge.training import TrainSettings

TRAINING = tuple(field.name for field in fields(TrainSettings))
_PATCHES = tuple(field.name for field in fields(PatchSettings) if field.name != "size")
_OF_VARIANTS = ("loss", "loss_options", "surgery", "init")
RUN = tuple(field.name for field in fields(RunRequest) if field.name not in _OF_VARIANTS)


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
    _try(patches.path, PatchSettings, size=(8, 8), **patches.content)
    axes = len(run["patch"]) if "patch" in run else dimensions
    if axes is not None:
        _try(section.path, find_preset, run["preset"], axes)
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
    check_training(section.path, preset, {**below, **training})
    return training


def check_training(path: str, preset: str, training: Mapping[str, Any]) -> None:
    """Raise a mistake under ``path`` unless a run of the preset takes these settings."""
    # The preset's own warm-up gives way to fewer steps, see `plan_run`; a recipe's does not.
    of_preset = {k: v for k, v in PRESETS[preset].training.items() if k != "warmup"}
    _try(path, TrainSettings, **{**of_preset, **training})


def _patch(section: Section) -> tuple[int, ...]:
    value = section.content["patch"]
    if not isinstance(value, list):
        raise Mistake(section.at("patch"), f"expected a list of whole numbers, got {value!r}")
    try:
        PatchSettings(tuple(value))
    except ValueError as error:
        raise Mistake(section.at("patch"), str(error).removeprefix("size: ")) from error
    return tuple(value)


def _check_model(section: Section, run: Mapping[str, Any], axes: int) -> None:
    """Plan the network, on the recipe's patch or on any, to see that its options go together."""
    options = section.section("model_options").content
    preset = PRESETS[run["preset"]]
    name = run.get("model") or preset.model
    of_preset = preset.model_options.get(axes, {}) if name == preset.model else {}
    chosen = {**of_preset, **options}
    path = section.at("model_options") if options else section.at("model")
    try:
        patch = run.get("patch") or preset.patch.get(axes)
        patch = patch or round_patch(name, (64,) * axes, **chosen)
        plan_model(name, 1, 2, patch, **chosen)
    except (ValueError, TypeError) as error:
        raise Mistake(path, str(error)) from error


def _try(path: str, made: Any, *arguments: Any, **settings: Any) -> None:
    """Call what refuses bad settings; its messages begin with the setting's name."""
    try:
        made(*arguments, **settings)
    except ValueError as error:
        raise Mistake(f"{path}.{str(error).partition(': ')[0]}", _said(error)) from error
    except TypeError as error:  # a text where a number belongs
        raise Mistake(path, f"a value is of the wrong kind ({error})") from error


def _said(error: ValueError) -> str:
    return str(error).partition(": ")[2]
