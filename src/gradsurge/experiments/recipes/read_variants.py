"""The variants of a recipe."""

import re
from collections.abc import Mapping
from typing import Any

from gradsurge.experiments.recipes.kinds import kinds_of
from gradsurge.experiments.recipes.loss_options import check_loss_options
from gradsurge.experiments.recipes.read_run import TRAINING, read_training
from gradsurge.experiments.recipes.read_space import read_space
from gradsurge.experiments.recipes.section import Mistake, Section, dotted, refusal
from gradsurge.experiments.recipes.variant import Variant, title_of
from gradsurge.experiments.runs.surgery_schedule import SurgerySchedule
from gradsurge.losses import LOSSES

_KEYS = (
    "title",
    "loss",
    "loss_options",
    "space",
    "surgery",
    "init",
    "training",
    "share",
    "seeds",
    "point_of",
)
_MOST_STEPS = 10  # times the recipe's; more is a typing error
MOST_SEEDS = 1000  # likewise
_NAME = re.compile(r"[a-z0-9]([a-z0-9+_-]|\.(?=[a-z0-9])){0,63}")


def read_variants(section: Section, run: Mapping[str, Any]) -> tuple[Variant, ...]:
    """Return the part "variants" of a recipe.

    Args:
        section: name -> table.
        run: the recipe's run.

    Raises:
        Mistake: a key, a name or a value cannot be meant.
    """
    variants = tuple(_read(section, name, run) for name in section.content)
    if not variants:
        raise Mistake(section.path, "expected at least one variant, such as dice = {}")
    known = [variant.name for variant in variants]
    for name in known:
        for key in ("init", "point_of"):
            section.section(name).choice(key, known, None)
    by_name = {variant.name: variant for variant in variants}
    _check_starts(by_name, section.path)
    _check_points(by_name, section.path)
    return variants


def _read(section: Section, name: str, run: Mapping[str, Any]) -> Variant:
    own = section.section(name, _KEYS)
    if not _NAME.fullmatch(name):
        raise Mistake(
            own.path,
            f"expected a name of at most 64 of a-z 0-9 + _ - and single points, got {name!r}",
        )
    if "loss" in own.content or name.partition(".")[0] in LOSSES:
        loss = own.choice("loss", LOSSES, name.partition(".")[0])
    else:
        raise Mistake(
            own.at("loss"),
            f"missing; {name!r} does not begin with that of a loss; known: {', '.join(LOSSES)}",
        )
    options = own.section("loss_options")
    check_loss_options(options.path, loss, options.content)
    return Variant(
        name=name,
        title=own.text("title", title_of(name, loss)),
        loss=loss,
        loss_options=options.content,
        space=read_space(own.section("space")),
        surgery=_surgery(own, loss),
        init=own.text("init", None),
        training=read_training(own.section("training", TRAINING), run["preset"], run["training"]),
        share=own.share("share", most=_MOST_STEPS),
        seeds=own.whole("seeds", 1, most=MOST_SEEDS),
        point_of=own.text("point_of", None),
    )


def _surgery(own: Section, loss: str) -> SurgerySchedule:
    """Return when surgery sets in; without an end of the ramp it is a switch."""
    given = own.section("surgery", kinds_of(SurgerySchedule)).content
    try:
        start = given.get("start", 0.0)
        schedule = SurgerySchedule(start, given.get("full", start))
    except ValueError as error:
        raise refusal(own.at("surgery"), given, str(error).removeprefix("surgery ")) from error
    if not schedule.from_the_start and not loss.endswith("-surgery"):
        raise Mistake(
            own.at("surgery"), f"{loss} has none to start later; take a loss that ends in -surgery"
        )
    if not schedule.from_the_start and "blend" in own.section("loss_options").content:
        raise Mistake(own.at("surgery"), "sets the loss option blend step by step; leave one out")
    return schedule


def _check_starts(variants: Mapping[str, Variant], path: str) -> None:
    """Raise if one goes on from itself, over however many others."""
    for variant in variants.values():
        seen, at = [variant.name], variant.init
        while at is not None:
            seen.append(at)
            if seen.count(at) > 1:
                raise Mistake(
                    f"{path}.{dotted(variant.name)}.init",
                    f"goes round in a circle: {' from '.join(seen)}; begin one from nothing",
                )
            at = variants[at].init


def _check_points(variants: Mapping[str, Variant], path: str) -> None:
    """Raise if it is not clear at which point one is trained, or goes on."""
    for name, variant in variants.items():
        own = f"{path}.{dotted(name)}"
        taken = None if variant.point_of is None else variants[variant.point_of]
        if taken is not None and taken.point_of is not None:
            raise Mistake(
                f"{own}.point_of", f"{taken.name} takes that of {taken.point_of}; name this one"
            )
        if taken is not None and variant.space:
            raise Mistake(f"{own}.space", "its point is another's; leave space or point_of out")
        start = None if variant.init is None else variants[variant.init]
        if start is not None and variant.point_of != (start.point_of or start.name):
            came = "nothing" if variant.point_of is None else repr(variant.point_of)
            raise Mistake(
                f"{own}.point_of",
                f"goes on from {start.name} and must take the same point: expected "
                f"{start.point_of or start.name!r}, got {came}",
            )
