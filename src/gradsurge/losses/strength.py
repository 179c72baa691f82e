"""How strong the surgery is, and the weights beside cross-entropy, where nobody says it."""

from collections.abc import Mapping
from typing import Any

RULE = ("decline", "scale", "normalise")  # of `gradsurge.SurgeryRule`
# The surgery's strength and the weights beside cross-entropy: what the paper trains with, and what
# older files mean, which say nothing of it.
PAPER: dict[str, Any] = {
    "decline": 20.0,
    "scale": 0.25,
    "normalise": False,
    "weights": (0.5, 0.5),
}
# With SGD the paper's hardly trains on rare structures (docs/theory.md, The size of the field).
FOR_SGD: dict[str, Any] = {
    "decline": None,
    "scale": 0.5,
    "normalise": True,
    "weights": (1.0, 1.0),
}


def as_the_paper(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options with the paper's surgery and weights where they say nothing."""
    return {**{k: v for k, v in PAPER.items() if k in strength_options(name)}, **options}


def resolved(name: str, options: Mapping[str, Any], optimiser: str | None = None) -> dict[str, Any]:
    """Return the options with strength and weights where they say nothing; "paper" is gone.

    >>> resolved("dice-surgery", {"decline": 40}, "sgd")
    {'decline': 40, 'scale': 0.5, 'normalise': True}
    >>> resolved("dice-surgery", {"paper": True}, "sgd")
    {'decline': 20.0, 'scale': 0.25, 'normalise': False}
    """
    if optimiser not in (None, "sgd", "adamw"):
        raise ValueError(f"optimiser: expected 'sgd', 'adamw' or None, got {optimiser!r}")
    said = {k: v for k, v in options.items() if k != "paper"}
    if optimiser == "sgd" and not options.get("paper"):
        return {**{k: v for k, v in FOR_SGD.items() if k in strength_options(name)}, **said}
    return as_the_paper(name, said)


def without_the_papers(name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options less those of the paper, which is what a file means that has none.

    >>> without_the_papers("dice-surgery", {"decline": 20, "scale": 0.5})
    {'scale': 0.5}
    """
    plain = {k: tuple(v) if isinstance(v, list) else v for k, v in options.items()}
    known = strength_options(name)
    return {k: options[k] for k, v in plain.items() if k not in known or v != PAPER[k]}


def told_strength(name: str, options: Mapping[str, Any]) -> str:
    """Return what a file says, or means, of a surgery loss's strength, in words.

    The paper's own goes by its name, with whichever decline.

    >>> told_strength("ce+dice-surgery", {}), told_strength("dice-surgery", FOR_SGD)
    ("the paper's", 'scale 0.5, normalised, no decline')
    """
    full = as_the_paper(name, options)
    found = {k: full[k] for k in strength_options(name)}
    if not without_the_papers(name, {**found, "decline": PAPER["decline"]}):
        return "the paper's"
    words = {True: "normalised", False: "not normalised", "batch": "normalised over the batch"}
    decline = "no decline" if found["decline"] is None else f"decline {found['decline']:g}"
    parts = [f"scale {found['scale']:g}", words[found["normalise"]], decline]
    if "weights" in found:
        parts.append("weights {:g} and {:g}".format(*found["weights"]))
    return ", ".join(parts)


def strength_in(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return which of the options are of the surgery's strength or weights."""
    return {k: v for k, v in options.items() if k in PAPER}


def strength_options(name: str) -> tuple[str, ...]:
    """Return the names of `PAPER` that a loss takes."""
    weights = ("weights",) if name.startswith("ce+") else ()
    return (*(RULE if name.endswith("-surgery") else ()), *weights)
