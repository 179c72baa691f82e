"""A case with all that is shown of it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsurge.experiments.viewing.laid_out import LaidOut
from gradsurge.experiments.viewing.scan import Scan
from gradsurge.experiments.viewing.structure import Structure


@dataclass(frozen=True)
class ModelView:
    """What one model makes of the case.

    Attributes:
        name: of the model.
        maps: probabilities (C, *S); None if there are none.
        mask: class numbers (*S); None if there are none.
        structures: what the maps are of; the same names for every model.
        facts: (what, how) in words.
    """

    name: str
    maps: NDArray[Any] | None
    mask: NDArray[np.uint8] | None
    structures: tuple[Structure, ...]
    facts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class CaseView:
    """A case to look at.

    Attributes:
        case: its name.
        layout: how its voxels are laid out for the eye.
        scan: None if it could not be found.
        label: class numbers (*S); None if there is none.
        label_title: where the label comes from.
        models: one or two; of a scan and its label alone, one without map and mask.
        notes: what a reader should know.
    """

    case: str
    layout: LaidOut
    scan: Scan | None
    label: NDArray[np.uint8] | None
    label_title: str
    models: tuple[ModelView, ...]
    notes: tuple[str, ...] = ()

    @property
    def structures(self) -> tuple[Structure, ...]:
        """What can be looked at."""
        return self.models[0].structures
