"""What the shell offers at the tabulator key, for arguments that take any text.

The names stand here once more because a shell waits for the answer: the modules that own them
import torch, which takes seconds. Tests compare the two.
"""

from collections.abc import Callable

Completer = Callable[[str], list[str]]

LOSSES = (
    "ce",
    "dice++",
    "svls",
    "nacl",
    "svls+dice",
    "nacl+dice",
    "ace+dice",
    *(
        f"{plain}{region}{surgery}"
        for region in ("dice", "tversky", "jaccard", "generalised-dice", "focal-tversky")
        for plain in ("", "ce+")
        for surgery in ("", "-surgery")
    ),
)
RECIPES = (
    "fives",
    "inbreast",
    "brats-mets",
    "kits",
    "kits-primus",
    "chase",
    "hippocampus",
    "isles",
    "isles-narrow",
    "phantoms",
)
DATASETS = ("fives", "inbreast", "brats-mets", "kits", "nnunet", "images", "chase")
PHANTOMS = ("lesions-2d", "lesions-3d", "vessels-2d", "organs-3d")
MODELS = ("residual-unet", "primus-s", "primus-b", "primus-m", "primus-l")
REGIONS = ("all", "active", "mask", "band")
OUR_TABLES = (
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
TABLES = (*"12345678", *OUR_TABLES)


def one_of(*names: str) -> Completer:
    """Offer the names that begin with what was typed.

    >>> one_of("dice", "dice++", "ce")("di")
    ['dice', 'dice++']
    """

    def complete(incomplete: str) -> list[str]:
        return [name for name in names if name.startswith(incomplete)]

    return complete


def some_of(*names: str) -> Completer:
    """Offer names for the last part of a list with commas, less those that are in it.

    >>> some_of("ce", "dice", "dice-surgery")("ce,di")
    ['ce,dice', 'ce,dice-surgery']
    """

    def complete(incomplete: str) -> list[str]:
        before, comma, last = incomplete.rpartition(",")
        taken = before.split(",")
        fitting = [n for n in names if n.startswith(last) and n not in taken]
        return [f"{before}{comma}{name}" for name in fitting]

    return complete
