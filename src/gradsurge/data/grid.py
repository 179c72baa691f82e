"""Where a prepared case lies in its source: what is needed to bring a prediction back."""

from dataclasses import asdict, dataclass
from typing import Any, Self


@dataclass(frozen=True)
class Grid:
    """The way from the source's array to the prepared one, in this order.

    1. ``axes`` and ``flips`` turn the source (RAS+ for volumes; identity for pictures): axis i of
       the turned array is axis ``axes[i]`` of the source, reversed where ``flips[i]``.
    2. The turned array is resampled to ``resampled_shape`` (equal to its shape where nothing is
       resampled), the centres of the corner voxels' outer faces fixed, as torch's and SciPy's
       half-pixel convention has it.
    3. The box ``crop`` (start, stop an axis) of that is the prepared array; it may reach outside,
       where the case was padded.

    Attributes:
        source_shape: (*S) of the source.
        source_affine: 4x4 of the source, row by row; None for pictures.
        source_spacing: mm along each axis of the source.
    """

    source_shape: tuple[int, ...]
    source_spacing: tuple[float, ...]
    source_affine: tuple[tuple[float, ...], ...] | None
    axes: tuple[int, ...]
    flips: tuple[bool, ...]
    resampled_shape: tuple[int, ...]
    crop: tuple[tuple[int, int], ...]

    def to_json(self) -> dict[str, Any]:
        """Return plain lists and numbers."""
        return asdict(self)

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> Self:
        """Return what `to_json` was made of."""
        return cls(**{name: _tuples(value) for name, value in stored.items()})


def _tuples(value: Any) -> Any:
    return tuple(_tuples(v) for v in value) if isinstance(value, list | tuple) else value
