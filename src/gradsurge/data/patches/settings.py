"""How patches are drawn."""

import math
from dataclasses import dataclass
from typing import Literal, get_args

Draw = Literal["shuffled", "independent"]


@dataclass(frozen=True)
class PatchSettings:
    """Which patches make a batch.

    Attributes:
        size: of a patch, two or three axes. Cases smaller than that are centred and padded.
        batch: patches in a batch.
        oversample: share of patches that hold foreground for certain (of cases that have any). A
            batch has the whole number below or above batch · oversample of them, in turn, so that
            the share is exact in the long run. Between 0.5 and 1 there is one in every batch, as in
            nnU-Net: Dice of a batch without foreground teaches little. (nnU-Net rounds once for
            all batches: 0.33 of 2 is 1, of 4 is 1, of 5 is 2.)
        patches_per_case: so many patches in a row come from one case, across batches if need be.
        draw: "shuffled" takes every case once before any comes again; "independent" draws each
            anew, as nnU-Net does.
    """

    size: tuple[int, ...]
    batch: int = 2
    oversample: float = 0.33
    patches_per_case: int = 1
    draw: Draw = "shuffled"

    def __post_init__(self) -> None:
        if len(self.size) not in (2, 3) or not all(_is_whole(n) for n in self.size):
            raise ValueError(
                f"size: expected two or three whole numbers above 0, got {self.size!r}"
            )
        for name in ("batch", "patches_per_case"):
            if not _is_whole(value := getattr(self, name)):
                raise ValueError(f"{name}: expected a whole number above 0, got {value!r}")
        if not (math.isfinite(self.oversample) and 0 <= self.oversample <= 1):
            raise ValueError(f"oversample: expected a share from 0 to 1, got {self.oversample!r}")
        if self.draw not in get_args(Draw):
            raise ValueError(
                f"draw: expected {' or '.join(map(repr, get_args(Draw)))}, got {self.draw!r}"
            )


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value > 0
