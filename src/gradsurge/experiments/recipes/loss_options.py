"""Options of a loss, checked by building it."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from gradsurge.experiments.recipes.kinds import kinds_of
from gradsurge.experiments.recipes.section import Mistake, check_kind, dotted
from gradsurge.experiments.runs.run_loss import FOLLOWS
from gradsurge.losses import make_loss
from gradsurge.surgery.rule import SurgeryRule, check_blend


def check_loss_options(path: str, loss: str, options: Mapping[str, Any]) -> None:
    """Raise a mistake under ``path`` unless the loss takes the options.

    The path of the first option that is refused also alone is told; that of all if none is.
    """
    for name, whole in FOLLOWS.items():
        if name in options:
            raise Mistake(
                f"{path}.{name}", f"follows from the {whole} and is not to be given; leave it out"
            )
    for name, value in options.items():  # in the words of a TOML file
        if _kinds(loss).get(name) is bool:
            check_kind(f"{path}.{name}", value, bool)
    problem = _refusal(loss, options)
    for name, value in options.items():
        alone = None if problem is None else _refusal(loss, {name: value})
        if alone is not None:
            raise Mistake(f"{path}.{dotted(name)}", alone.removeprefix(f"{name}: "))
    if problem is not None:
        raise Mistake(path, problem)
    for name, value in options.items():
        check_kind(f"{path}.{name}", value, _kinds(loss)[name])


@cache
def _kinds(loss: str) -> dict[str, Any]:
    """Return option -> annotation, of all that the loss is built of."""
    kinds = kinds_of(SurgeryRule) | kinds_of(check_blend) | {"paper": bool}
    for module in make_loss(loss).modules():
        for part in type(module).__mro__:
            kinds = kinds_of(part) | kinds
    return kinds


def _refusal(loss: str, options: Mapping[str, Any]) -> str | None:
    """Return why a loss refuses its options; None if it does not."""
    said: dict[str, Any] = {k: tuple(v) if isinstance(v, list) else v for k, v in options.items()}
    try:
        make_loss(loss, **said)
    except (ValueError, TypeError, OverflowError) as error:
        return str(error)
    return None
