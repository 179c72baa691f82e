"""Options of a loss, checked by building it."""

from collections.abc import Mapping
from typing import Any

from gradsurge.experiments.recipes.section import Mistake, dotted
from gradsurge.losses import make_loss

_FROM_STORE = ("activation", "ignore_index", "classes")


def check_loss_options(path: str, loss: str, options: Mapping[str, Any]) -> None:
    """Raise a mistake under ``path`` unless the loss takes the options.

    The path of the first option that is refused also alone is told; that of all if none is.
    """
    for name in _FROM_STORE:
        if name in options:
            raise Mistake(
                f"{path}.{name}", "follows from the store and is not to be given; leave it out"
            )
    problem = _refusal(loss, options)
    if problem is None:
        return
    for name, value in options.items():
        alone = _refusal(loss, {name: value})
        if alone is not None:
            raise Mistake(f"{path}.{dotted(name)}", alone)
    raise Mistake(path, problem)


def _refusal(loss: str, options: Mapping[str, Any]) -> str | None:
    """Return why a loss refuses its options; None if it does not."""
    try:
        make_loss(loss, **{k: tuple(v) if isinstance(v, list) else v for k, v in options.items()})
    except (ValueError, TypeError) as error:
        return str(error)
    return None
