"""Which tables a recipe makes, of which variants, and how runs are measured."""

import math
from collections.abc import Collection, Sequence
from itertools import pairwise

from gradsurge.experiments.published import published_table
from gradsurge.experiments.recipes.kinds import is_number
from gradsurge.experiments.recipes.parts import EvaluationPart, TablePart
from gradsurge.experiments.recipes.section import Mistake, Section, did_you_mean
from gradsurge.experiments.recipes.variant import Variant

# The paper's by number, then our own.
TABLES = (
    *"12345678",
    "corrections",
    "bias",
    "cases",
    "budget",
    "schedule",
    "statistics",
    "optimiser",
    "shift",
    "volume",
)
EVALUATION = ("profile", "regions", "lesion_edges")
_LESION_SIZES = "6"
_OF_ACTIVE = ("4", "5")


def read_tables(section: Section, variants: Sequence[Variant]) -> dict[str, TablePart]:
    """Return the part "tables" of a recipe.

    A table without a list of variants has all that bear the plain name of their loss, alone or with
    ".ours".

    Raises:
        Mistake: a table, a variant or a published block is not known.
    """
    known = [variant.name for variant in variants]
    plain = tuple(v.name for v in variants if v.name in (v.loss, f"{v.loss}.ours"))
    tables = {}
    for name in section.content:
        own = section.section(name, ("variants", "published"))
        rows = own.names("variants") or plain
        for row in rows:
            if row not in known:
                raise Mistake(own.at("variants"), f"no variant {row!r}; {did_you_mean(row, known)}")
        if not rows:
            raise Mistake(own.at("variants"), "missing; no variant has the plain name of a loss")
        blocks = published_blocks(name)
        if "published" in own.content and not blocks:
            raise Mistake(own.at("published"), f"the paper has no table {name!r}; leave it out")
        tables[name] = TablePart(rows, own.choice("published", blocks, None))
    return tables


def published_blocks(table: str) -> tuple[str, ...]:
    """Return what a table of the paper can be compared on; nothing for one of our own.

    >>> published_blocks("1"), published_blocks("corrections")
    (('inbreast', 'fives'), ())
    """
    if not table.isdigit():
        return ()
    # Its blocks are sizes of lesions; all of them are of one data set.
    return ("kits",) if table == _LESION_SIZES else tuple(published_table(int(table)).blocks)


def read_evaluation(section: Section, tables: Collection[str]) -> EvaluationPart:
    """Return the part "evaluation" of a recipe.

    Args:
        section: with the keys `EVALUATION`.
        tables: names of those that the recipe makes.

    Raises:
        Mistake: a key or a value cannot be meant.
    """
    regions = section.names("regions") or EvaluationPart.regions
    for region in regions:
        if region not in EvaluationPart.regions:
            known = ", ".join(EvaluationPart.regions)
            raise Mistake(section.at("regions"), f"unknown {region!r}; known: {known}")
    needed = {"all": "every table", "active": "tables 4 and 5"}
    for region in needed if set(tables).intersection(_OF_ACTIVE) else ("all",):
        if region not in regions:
            said = f"expected {region!r} among them, for {needed[region]}, got {list(regions)!r}"
            raise Mistake(section.at("regions"), said)
    profile = section.choice("profile", ("foreground", "paper"), EvaluationPart.profile)
    return EvaluationPart(profile, regions, _edges(section))  # type: ignore[arg-type]


def _edges(section: Section) -> tuple[float, ...] | None:
    edges = section.content.get("lesion_edges")
    if edges is None:
        return None
    numbers = isinstance(edges, list) and all(is_number(e) or e == math.inf for e in edges)
    rising = numbers and all(low < high for low, high in pairwise(edges))
    if not rising or len(edges) < 2 or edges[0] < 0:
        raise Mistake(
            section.at("lesion_edges"),
            f"expected two or more rising numbers of 0 or above, got {edges!r}",
        )
    return tuple(map(float, edges))
