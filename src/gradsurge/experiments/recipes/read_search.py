"""How a recipe searches, and whether every point it can come to is one that a run takes."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from gradsurge.experiments.recipes.loss_options import check_loss_options
from gradsurge.experiments.recipes.parts import Search
from gradsurge.experiments.recipes.read_run import TRAINING, try_training
from gradsurge.experiments.recipes.read_space import read_space
from gradsurge.experiments.recipes.requests import SEED
from gradsurge.experiments.recipes.section import (
    Mistake,
    Section,
    check_kind,
    did_you_mean,
    dotted,
)
from gradsurge.experiments.recipes.space import Choice, Range, Space
from gradsurge.experiments.recipes.variant import Variant
from gradsurge.experiments.runs.presets import PRESETS
from gradsurge.training import TrainSettings

KEYS = ("kind", "trials", "keep", "seed", "space", "share")
_MOST_TRIALS = 10_000  # more is a typing error
_ONLY_OF = {"training.momentum": "sgd", "training.betas": "adamw"}
_ONLY = {"trials": "random", "keep": "random", "share": "grid"}


def read_search(section: Section) -> Search:
    """Return the part "search" of a recipe.

    Raises:
        Mistake: a key or a value cannot be meant.
    """
    kind = section.choice("kind", ("random", "grid"))
    for key, only in _ONLY.items():
        if key in section.content and kind != only:
            raise Mistake(section.at(key), f"is for kind = {only!r}; leave it out")
    space, seed = read_space(section.section("space")), section.whole("seed", 0, least=0)
    if kind == "grid":
        trials = math.prod(len(v.samples) for v in space.values())
        return Search(kind, trials, 1, seed, space, section.share("share"))
    trials, keep = section.whole("trials", most=_MOST_TRIALS), section.whole("keep")
    if keep > trials:
        raise Mistake(section.at("keep"), f"expected at most the {trials} trials, got {keep}")
    return Search(kind, trials, keep, seed, space)


def check_search(search: Search, variants: Sequence[Variant], run: Mapping[str, Any]) -> None:
    """Raise a mistake unless every value that can come up is one that its variant takes."""
    by_name = {variant.name: variant for variant in variants}
    for variant in variants:
        if search.kind == "random" and variant.seeds != 1:
            path = f"variants.{dotted(variant.name)}.seeds"
            raise Mistake(path, "a random search repeats none of its runs; leave it out")
        searched = variant if variant.point_of is None else by_name[variant.point_of]
        places = {"search": search.space, f"variants.{dotted(searched.name)}": searched.space}
        for path, space in places.items():
            _check_space(f"{path}.space", space, search.kind, variant, run)
        if variant is searched:
            _check_optimiser(places, variant, run)


def _check_space(
    path: str, space: Space, kind: str, variant: Variant, run: Mapping[str, Any]
) -> None:
    for name, values in space.items():
        place = f"{path}.{dotted(name)}"
        part, _, key = name.partition(".")
        if kind == "grid" and isinstance(values, Range):
            raise Mistake(place, "a grid has no ranges; list the values to try")
        if name == SEED:
            raise Mistake(place, "is not searched; variants have seeds")
        if part == "training":
            _check_training(place, key, values, variant, run)
        else:
            _check_loss(place, key, values, variant)


def _check_optimiser(places: Mapping[str, Space], variant: Variant, run: Mapping[str, Any]) -> None:
    """Raise if what is searched would change nothing."""
    settings = {**PRESETS[run["preset"]].training, **run["training"], **variant.training}
    possible = {settings.get("optimiser", TrainSettings.optimiser)}
    for space in places.values():
        if "training.optimiser" in space:
            possible = set(space["training.optimiser"].samples)
    for path, name in ((path, name) for path, space in places.items() for name in space):
        if name in _ONLY_OF and _ONLY_OF[name] not in possible:
            trained = f"{variant.name} is trained with {' or '.join(sorted(possible))}"
            raise Mistake(f"{path}.space.{dotted(name)}", f"is of {_ONLY_OF[name]}; {trained}")


def _check_training(
    place: str, key: str, values: Range | Choice, variant: Variant, run: Mapping[str, Any]
) -> None:
    if key not in TRAINING:
        raise Mistake(place, f"unknown setting; {did_you_mean(key, TRAINING)}")
    fixed = {**run["training"], **variant.training}
    if key in fixed:
        raise Mistake(place, f"is searched and fixed as {fixed[key]!r} in training; leave one out")
    for value in values.samples:
        check_kind(place, value, TRAINING[key])
        try:
            try_training(run["preset"], {**fixed, key: value})
        except ValueError as error:
            raise Mistake(place, str(error).removeprefix(f"{key}: ")) from error


def _check_loss(place: str, key: str, values: Range | Choice, variant: Variant) -> None:
    fixed = variant.loss_options
    if key in fixed:
        raise Mistake(
            place, f"is searched and fixed as {fixed[key]!r} for {variant.name}; leave one out"
        )
    for value in values.samples:
        try:
            check_loss_options("", variant.loss, {**fixed, key: value})
        except Mistake as error:
            said = str(error).partition(": ")[2]
            raise Mistake(place, f"{variant.name} does not take {value!r}: {said}") from error
