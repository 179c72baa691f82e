"""Names of losses as figures print them, and the colours that they keep in all of them."""

_PARTS = {
    "ce": "CE",
    "dice": "Dice",
    "tversky": "Tversky",
    "dice++": "Dice++",
    "svls": "SVLS",
    "nacl": "NACL",
    "ace": "mL1-ACE",
    "ace+dice": "Dice + mL1-ACE",  # as in the paper's tables and ours
    "jaccard": "Jaccard",
    "generalised-dice": "generalised Dice",
    "focal-tversky": "focal Tversky",
}


def loss_title(name: str) -> str:
    """Return a loss's name for a title; one that is not known as it is.

    >>> loss_title("ce+dice-surgery"), loss_title("ce"), loss_title("dice++")
    ('CE + Dice surgery', 'CE', 'Dice++')
    """
    bare = name.removesuffix("-surgery")
    parts = [bare] if bare in _PARTS else bare.split("+")
    if not all(part in _PARTS for part in parts):
        return name
    title = " + ".join(_PARTS[part] for part in parts)
    return title if bare == name else f"{title} surgery"
