"""The same protocol, smaller: what a recipe says under [scale.smoke] and [scale.small]."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gradsurge.experiments.recipes.read_variants import MOST_SEEDS
from gradsurge.experiments.recipes.recipe import SCALES
from gradsurge.experiments.recipes.section import Section
from gradsurge.experiments.recipes.variant import Variant

FULL = "paper"
_KEYS = ("data", "run", "search", "seeds")


def scale_sections(whole: Section) -> dict[str, Section]:
    """Return scale -> what it changes; the full one changes nothing.

    Raises:
        Mistake: there is another scale, or one that changes something else.
    """
    smaller = tuple(scale for scale in SCALES if scale != FULL)
    scales = whole.section("scale", smaller)
    return {FULL: Section({}, "")} | {scale: scales.section(scale, _KEYS) for scale in smaller}


def merged(whole: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content with changes, table by table.

    >>> merged({"run": {"preset": "quick", "patch": [8, 8]}}, {"run": {"patch": [4, 4]}})
    {'run': {'preset': 'quick', 'patch': [4, 4]}}
    """
    result = dict(whole)
    for key, value in changes.items():
        both = isinstance(value, dict) and isinstance(result.get(key), dict)
        result[key] = merged(result[key], value) if both else value
    return result


def with_fewer_seeds(variants: tuple[Variant, ...], scale: Section) -> tuple[Variant, ...]:
    """Return the variants with no more seeds than the scale has.

    Raises:
        Mistake: that is no number of seeds.
    """
    most = scale.whole("seeds", None, most=MOST_SEEDS)
    if most is None:
        return variants
    return tuple(replace(variant, seeds=min(variant.seeds, most)) for variant in variants)
