"""What a model is made of, as plain data."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from gradsurge.models.checks import check_patch, check_whole

_FIELDS = ("name", "in_channels", "out_channels", "patch", "options")


@dataclass(frozen=True)
class ModelConfig:
    """A model, fully resolved: rebuilds it with nothing else known.

    Attributes:
        name: in the catalogue.
        in_channels: of the image.
        out_channels: logits a voxel.
        patch: size the model is planned for, two or three axes.
        options: everything the planner decided, as numbers, words, booleans and tuples of them.

    >>> config = ModelConfig("primus-s", 1, 2, (32, 32, 32), {"token": [8, 8, 8]})
    >>> config.options["token"], ModelConfig.from_json(config.to_json()) == config
    ((8, 8, 8), True)
    """

    name: str
    in_channels: int
    out_channels: int
    patch: tuple[int, ...]
    options: Mapping[str, Any]

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise ValueError(f"name: expected a model's name, got {self.name!r}")
        check_whole("in_channels", self.in_channels)
        check_whole("out_channels", self.out_channels)
        object.__setattr__(self, "patch", check_patch(self.patch))
        if not isinstance(self.options, Mapping):
            raise ValueError(f"options: expected names and values, got {self.options!r}")
        object.__setattr__(self, "options", {k: _tuples(v) for k, v in self.options.items()})

    def to_json(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return {name: _lists(getattr(self, name)) for name in _FIELDS}

    @classmethod
    def from_json(cls, stored: Any) -> Self:
        """Rebuild from what `to_json` returned, also after a way through a file."""
        if not isinstance(stored, Mapping) or set(stored) != set(_FIELDS):
            came = sorted(map(str, stored)) if isinstance(stored, Mapping) else stored
            raise ValueError(f"model: expected the entries {', '.join(_FIELDS)}, got {came!r}")
        return cls(**stored)


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list | tuple) else value


def _lists(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {k: _lists(v) for k, v in value.items()}
    return list(map(_lists, value)) if isinstance(value, list | tuple) else value
