"""One table of a recipe's file, read key by key; a mistake names its dotted key."""

import difflib
import re
from collections.abc import Collection, Mapping
from typing import Any

from gradsurge.experiments.recipes.kinds import described, fits, is_number, is_whole

_MISSING = object()
_BARE = re.compile(r"[A-Za-z0-9_-]+")


class Mistake(ValueError):
    """Something in a recipe that cannot be meant.

    Args:
        path: dotted key.
        said: what was expected, what came, what to do.
    """

    def __init__(self, path: str, said: str) -> None:
        super().__init__(f"{path}: {said}")


def dotted(*names: str) -> str:
    """Return the path of a key; names are quoted where TOML wants them so.

    >>> dotted("variants", "ce+dice", "seeds")
    'variants."ce+dice".seeds'
    """
    return ".".join(n if _BARE.fullmatch(n) else f'"{n}"' for n in names)


def did_you_mean(name: str, known: Collection[str]) -> str:
    """Return the end of a message about an unknown name.

    >>> did_you_mean("stepz", ["steps", "seed"])
    "did you mean 'steps'? known: steps, seed"
    """
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"{hint}known: {', '.join(known) or 'none'}"


def check_kind(path: str, value: object, kind: Any) -> None:
    """Raise a mistake unless a value is of the kind that an annotation says."""
    if not fits(value, kind):
        raise Mistake(path, f"expected {described(kind)}, got {value!r}")


def refusal(path: str, given: Collection[str], said: str) -> Mistake:
    """Return the mistake of a table that was refused, at the key that the words begin with.

    >>> str(refusal("run.training", ["steps"], "steps: expected more"))
    'run.training.steps: expected more'
    """
    name, _, rest = said.partition(": ")
    return Mistake(f"{path}.{name}", rest) if name in given else Mistake(path, said)


class Section:
    """A table of the file.

    Args:
        content: what is there.
        path: its own dotted key, as written; "" for the whole file.
        known: keys that it may have; None for any. With annotations, as of `kinds_of`, values
            are checked, too.

    Raises:
        Mistake: it is no table, has an unknown key, or a value of another kind.
    """

    def __init__(self, content: object, path: str, known: Collection[str] | None = None) -> None:
        if not isinstance(content, dict):
            raise Mistake(path, f"expected a table, got {content!r}")
        self.content: Mapping[str, Any] = content
        self.path = path
        if known is None:
            return
        for key, value in content.items():
            if key not in known:
                raise Mistake(self.at(key), f"unknown key; {did_you_mean(key, known)}")
            if isinstance(known, Mapping):
                check_kind(self.at(key), value, known[key])

    def at(self, key: str) -> str:
        """Return the path of a key in it."""
        return f"{self.path}.{dotted(key)}" if self.path else dotted(key)

    def section(self, key: str, known: Collection[str] | None = None) -> "Section":
        """Return a table in it; an empty one if it is not there."""
        return Section(self.content.get(key, {}), self.at(key), known)

    def text(self, key: str, default: object = _MISSING) -> Any:
        """Return a text that is not empty, or the default."""
        value = self._get(key, default)
        if value is not default and not (isinstance(value, str) and value.strip()):
            raise Mistake(self.at(key), f"expected a text, got {value!r}")
        return value

    def choice(self, key: str, known: Collection[str], default: object = _MISSING) -> Any:
        """Return one of the known names, or the default."""
        value = self.text(key, default)
        if value is not default and value not in known:
            raise Mistake(self.at(key), f"unknown {value!r}; {did_you_mean(value, known)}")
        return value

    def whole(
        self, key: str, default: object = _MISSING, *, least: int = 1, most: int | None = None
    ) -> Any:
        """Return a whole number, or the default."""
        value = self._get(key, default)
        if value is default:
            return value
        if not is_whole(value) or value < least or (most is not None and value > most):
            wanted = f"of {least} or above" if most is None else f"from {least} to {most}"
            raise Mistake(self.at(key), f"expected a whole number {wanted}, got {value!r}")
        return value

    def share(self, key: str, *, most: int = 1) -> float:
        """Return a number above 0, up to ``most``; 1 if it is not there."""
        value = self._get(key, 1.0)
        if not is_number(value) or not 0 < value <= most:
            raise Mistake(self.at(key), f"expected a number above 0, up to {most}, got {value!r}")
        return float(value)

    def names(self, key: str) -> tuple[str, ...] | None:
        """Return a list of different texts; None if it is not there."""
        value = self._get(key, None)
        if value is None:
            return None
        if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
            raise Mistake(self.at(key), f"expected a list of texts, got {value!r}")
        if not value or len(set(value)) < len(value):
            raise Mistake(self.at(key), f"expected a list of different names, got {value!r}")
        return tuple(value)

    def _get(self, key: str, default: object) -> Any:
        value = self.content.get(key, default)
        if value is _MISSING:
            raise Mistake(self.at(key), "missing; every recipe says it")
        return value
