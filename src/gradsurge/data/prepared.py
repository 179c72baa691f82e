"""A case as training sees it: on its own grid, with the way back to the source's."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsurge.data.grid import Grid


@dataclass(frozen=True)
class PreparedImage:
    """An image after preprocessing, 2D or 3D: what a network sees of a case without label.

    Attributes:
        name: of the case.
        image: float32 (C, *S), finite.
        spacing: mm along each axis of S; ones where the files do not tell.
        grid: where S lies in the source; None for phantoms, which have no source.
    """

    name: str
    image: NDArray[np.float32]
    spacing: tuple[float, ...]
    grid: Grid | None

    def with_label(
        self, label: NDArray[np.uint8], extras: Mapping[str, NDArray[Any]] | None = None
    ) -> "PreparedCase":
        """Return the case with its label, uint8 (*S), on the same grid."""
        return PreparedCase(
            self.name, self.image, label, self.spacing, self.grid, {} if extras is None else extras
        )


@dataclass(frozen=True)
class PreparedCase:
    """Image and label after preprocessing, 2D or 3D.

    Attributes:
        name: of the case; also that of its folder in a store.
        image: float32 (C, *S), finite.
        label: uint8 (*S), class numbers; `Dataset.ignore_label` where nothing is known.
        spacing: mm along each axis of S; ones where the files do not tell.
        grid: where S lies in the source; None for phantoms, which have no source.
        extras: more arrays on the same grid: "posterior" float32 (K, *S), "second_rater" uint8
            (*S), "field_of_view" uint8 (*S).
    """

    name: str
    image: NDArray[np.float32]
    label: NDArray[np.uint8]
    spacing: tuple[float, ...]
    grid: Grid | None = None
    extras: Mapping[str, NDArray[Any]] = field(default_factory=dict)
