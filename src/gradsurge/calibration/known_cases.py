"""Which cases a sketch has counted, so that the same cases are never taken for others."""

import hashlib
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray


@dataclass
class KnownCases:
    """Digests of 8 bytes, one a case, and how many voxels of the sketch belong to these cases.

    A sketch may have counted more: what nobody named. Only where ``voxels`` are all of the
    sketch's are its cases known.

    >>> labels, p = np.array([[0, 1]]), np.array([[0.2, 0.7]])
    >>> one, other = KnownCases.of(labels, p, 2), KnownCases.of(1 - labels, p, 2)
    >>> again = KnownCases.of(labels, p / 2, 2)  # another model
    >>> len(one.digests & other.digests), len(one.digests & again.digests)
    (0, 1)
    """

    digests: set[int] = field(default_factory=set)
    voxels: int = 0

    @classmethod
    def of(cls, labels: NDArray[Any], scores: NDArray[Any], voxels: int) -> Self:
        """Return one case, known by its labels; by its scores too if all labels are equal.

        Labels tell a case whatever the model. Those without foreground are alike in many cases.
        """
        low, high = int(labels.min()), int(labels.max())
        digest = hashlib.blake2b(str(labels.shape).encode(), digest_size=8)
        # In the smallest type: it is the same case whatever type the file or the reader chose.
        digest.update(np.ascontiguousarray(labels, np.min_scalar_type(high)).data)
        if low == high:
            digest.update(np.ascontiguousarray(scores).data)
        return cls({int.from_bytes(digest.digest(), "little")}, voxels)

    def __iadd__(self, other: "KnownCases") -> Self:
        """Take in the other's cases; in place, as a copy for each of many cases would be slow."""
        self.digests |= other.digests
        self.voxels += other.voxels
        return self

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return what a sketch's file keeps."""
        return {
            "cases": np.array(sorted(self.digests), np.uint64),
            "cases_voxels": np.array(self.voxels),
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> Self:
        """Return what `to_arrays` was given; no case if the arrays name none.

        Raises:
            ValueError: if they hold something else.
        """
        if "cases" not in arrays:
            return cls()
        found, voxels = arrays["cases"], int(arrays["cases_voxels"])
        if found.dtype != np.uint64 or found.ndim != 1 or voxels < 0:
            raise ValueError(
                f"cases: expected a row of uint64, got {found.dtype} {found.shape} of {voxels}"
            )
        return cls(set(found.tolist()), voxels)
