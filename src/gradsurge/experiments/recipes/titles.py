"""What tables call a variant that has no title of its own."""

_OF_LOSSES = {
    "ce": "CE",
    "svls": "SVLS",
    "nacl": "NACL",
    "ace+dice": "Dice + mL1-ACE",
    "dice++": "Dice++",
}
_WORDS = {"ce": "CE", "svls": "SVLS", "nacl": "NACL"}


def title_of(name: str, loss: str) -> str:
    """Return the title of a variant, in the words of the paper's tables.

    >>> title_of("ce+dice-surgery", "ce+dice-surgery"), title_of("dice.hard", "dice")
    ('CE + Dice - Surgery', 'Dice (hard)')
    """
    _, _, special = name.partition(".")
    return f"{_of_loss(loss)} ({special})" if special else _of_loss(loss)


def _of_loss(loss: str) -> str:
    if loss in _OF_LOSSES:
        return _OF_LOSSES[loss]
    plain = loss.removesuffix("-surgery")
    sum_of = [_WORDS.get(word, word.capitalize()) for word in plain.split("+")]
    return " + ".join(sum_of) + (" - Surgery" if loss != plain else "")
