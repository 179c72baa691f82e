"""How large the logits are: their means inside the label's foreground and background."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from gradsurge.calibration.histogram import CLIP
from gradsurge.calibration.regions import Mask, slabs

Kind = Literal["logits", "log-probabilities"]
Floats = NDArray[np.float64]
_Planes = Callable[[Floats], tuple[Sequence[Floats], int]]


@dataclass(frozen=True)
class LogitTable:
    """Mean logits: a row for each class of the label, a column for each channel.

    Attributes:
        kind: "logits" as the model gave them, or "log-probabilities". The second are the first
            less a number common to all channels of a voxel: compare tables of one kind only,
            or their distances, which that number leaves alone.
        voxels: by class of the label.
        means: means[t][c], of channel c on the voxels of class t; None for a class without any.
        distances: by class, the mean logit of the class itself less the mean of the others.
        clipped: entries below 2**-24 that counted as that: the true means are further out.
    """

    kind: Kind | None
    voxels: list[int]
    means: list[list[float | None]]
    distances: list[float | None]
    clipped: int


@dataclass(eq=False)
class LogitSums:
    """Sums of logits by class of the label; cases add up with ``+`` or ``sum``.

    Exclusive classes have a channel each. A model with one channel (sigmoid) is one of two classes
    whose background logit is 0; overlapping channels need one `LogitSums` each.

    >>> sums = LogitSums()
    >>> sums.update_logits(np.array([[[3.0, 1.0, -4.0]]]), np.array([[1, 1, 0]]))
    >>> sums.means().means, sums.means().distances
    ([[0.0, -4.0], [0.0, 2.0]], [4.0, 2.0])
    """

    classes: int = 2
    kind: Kind | None = None
    counts: NDArray[np.int64] = field(init=False)
    sums: Floats = field(init=False)
    clipped: int = 0

    def __post_init__(self) -> None:
        """Start empty."""
        if self.classes < 2:
            raise ValueError(
                f"classes: expected at least 2, background included, got {self.classes}"
            )
        self.counts = np.zeros(self.classes, np.int64)
        self.sums = np.zeros((self.classes, self.classes), np.float64)

    def update_logits(
        self, logits: NDArray[np.floating], label: NDArray[Any], mask: Mask | None = None
    ) -> None:
        """Add a case.

        Args:
            logits: (C, *S), or (1, *S) for two classes.
            label: class indices or bool, (*S).
            mask: bool (*S), the voxels that count; all by default.
        """
        self._add("logits", logits, label, mask, _logit_planes)

    def update_probabilities(
        self, probabilities: NDArray[np.floating], label: NDArray[Any], mask: Mask | None = None
    ) -> None:
        """Add a case of which only probabilities are known, by their logarithms.

        A probability below 2**-24, the least that float32 tells from 1 - p = 1, counts as that
        (a logarithm of -16.6), and is counted in ``clipped``.

        Args:
            probabilities: (C, *S), or (1, *S) of the foreground, whose background is 1 - p.
            label: class indices or bool, (*S).
            mask: bool (*S), the voxels that count; all by default.
        """
        self._add("log-probabilities", probabilities, label, mask, _log_probability_planes)

    def means(self) -> LogitTable:
        """Return the table of means."""
        voxels: list[int] = self.counts.tolist()
        rows: list[list[float | None]] = []
        distances: list[float | None] = []
        for t, n in enumerate(voxels):
            row = self.sums[t] / max(n, 1)
            others = np.delete(row, t)
            rows.append(row.tolist() if n else [None] * self.classes)
            distances.append(float(row[t] - others.mean()) if n else None)
        return LogitTable(self.kind, voxels, rows, distances, self.clipped)

    def __add__(self, other: "LogitSums") -> "LogitSums":
        if not isinstance(other, LogitSums):
            return NotImplemented
        if self.classes != other.classes:
            raise ValueError(
                f"logit sums of {self.classes} and {other.classes} classes do not add up"
            )
        total = LogitSums(self.classes, self._common(other.kind))
        total.counts = self.counts + other.counts
        total.sums = self.sums + other.sums
        total.clipped = self.clipped + other.clipped
        return total

    def __radd__(self, other: int) -> Self:
        """Let ``sum`` start from 0."""
        return self if other == 0 else NotImplemented

    def _common(self, kind: Kind | None) -> Kind | None:
        if None not in (self.kind, kind) and self.kind != kind:
            raise ValueError(f"{self.kind} and {kind} do not add up: keep a LogitSums for each")
        return self.kind or kind

    def _add(
        self,
        kind: Kind,
        values: NDArray[np.floating],
        label: NDArray[Any],
        mask: Mask | None,
        planes: _Planes,
    ) -> None:
        name = "logits" if kind == "logits" else "probabilities"
        common = self._common(kind)
        _check(name, values, label, mask, self.classes)
        counts, sums, clipped = np.zeros_like(self.counts), np.zeros_like(self.sums), 0
        for slab in slabs(label.shape):
            keep = slice(None) if mask is None else mask[slab].ravel()
            classes = label[slab].ravel()[keep].astype(np.intp)
            _check_classes(classes, self.classes)
            inside = values[:, slab].reshape(len(values), -1)[:, keep].astype(np.float64)
            channels, low = planes(inside)
            counts += np.bincount(classes, minlength=self.classes)
            for c, channel in enumerate(channels):
                sums[:, c] += np.bincount(classes, channel, self.classes)
            clipped += low
        if not np.isfinite(sums).all():
            raise ValueError(f"{name}: expected finite numbers, got NaN or infinity")
        self.kind, self.clipped = common, self.clipped + clipped
        self.counts += counts
        self.sums += sums


def _logit_planes(logits: Floats) -> tuple[Sequence[Floats], int]:
    return ((np.zeros_like(logits[0]), logits[0]) if len(logits) == 1 else tuple(logits)), 0


def _log_probability_planes(p: Floats) -> tuple[Sequence[Floats], int]:
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError("probabilities: expected values in [0, 1], got others or NaN")
    channels = (1 - p[0], p[0]) if len(p) == 1 else tuple(p)
    clipped = sum(int(np.count_nonzero(x < CLIP)) for x in channels)
    return tuple(np.log(np.maximum(x, CLIP)) for x in channels), clipped


def _check(
    name: str, values: NDArray[Any], label: NDArray[Any], mask: Mask | None, classes: int
) -> None:
    channels = "1 or 2" if classes == 2 else f"{classes}"
    fits = len(values) == classes or (classes == 2 and len(values) == 1)
    if values.shape[1:] != label.shape or not fits or label.ndim == 0:
        raise ValueError(
            f"{name}: for a label {label.shape} of {classes} classes expected {channels} channels, "
            f"(C, *S), got {values.shape}"
        )
    if label.dtype.kind not in "bui":
        raise TypeError(f"label: expected class indices or bool, got {label.dtype}")
    if mask is not None and (mask.shape != label.shape or mask.dtype != np.bool_):
        raise ValueError(
            f"mask: expected bool in the shape of label, {label.shape}, "
            f"got {mask.dtype} {mask.shape}"
        )


def _check_classes(found: NDArray[np.intp], classes: int) -> None:
    if found.size and (found.min() < 0 or found.max() >= classes):
        raise ValueError(
            f"label: expected classes 0 to {classes - 1}, got {found.min()} to {found.max()}; "
            "leave other voxels out with a mask"
        )
