"""The sketches of a run in few bins: enough for reliability curves, small enough to keep."""

import io
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsurge.calibration.scores import Bins, in_bins
from gradsurge.calibration.sketch import CalibrationSketch
from gradsurge.data.case_error import shown
from gradsurge.experiments.whole_file import write_whole

BINS = 60
"""Equal bins (lo, hi] of p: 15, 20, 12 and 10 bins follow exactly."""

VERSION = 1
_UNREADABLE = (ValueError, TypeError, KeyError, EOFError, OSError, zipfile.BadZipFile, zlib.error)
Key = tuple[str, str, str]
"""Correction, region, structure."""


def write_coarse(
    file: Path, sketches: Mapping[str, Mapping[str, CalibrationSketch]], structures: list[str]
) -> None:
    """Write the bins of all corrections, regions and structures; a reader never sees half of it.

    Args:
        file: ``.npz``.
        sketches: correction -> region -> sketch.
        structures: names of the foreground, in the sketches' order.
    """
    found: dict[Key, Bins] = {}
    for correction, regions in sketches.items():
        for region, sketch in regions.items():
            for name, histogram in zip(structures, sketch.foreground.values(), strict=True):
                found[correction, region, name] = in_bins(histogram, BINS)
    stream = io.BytesIO()
    np.savez_compressed(
        stream,
        version=np.array(VERSION),
        keys=np.array(list(found), np.str_).reshape(-1, 3),
        counts=_stacked([bins.counts for bins in found.values()], np.int64),
        positives=_stacked([bins.positives for bins in found.values()], np.int64),
        # Half a number in ten million: far below what two seeds differ in.
        sums=_stacked([bins.sums for bins in found.values()], np.float32),
    )
    write_whole(file, stream.getvalue())


def read_coarse(file: Path) -> dict[Key, Bins]:
    """Return (correction, region, structure) -> bins of p.

    Raises:
        ValueError: the file is missing, damaged or something else; nothing is unpickled.
    """
    try:
        with zipfile.ZipFile(file):  # refuses what is no archive before NumPy takes it for a pickle
            pass
        with np.load(file, allow_pickle=False) as stored:
            if int(stored["version"]) != VERSION:
                raise ValueError(
                    f"version {int(stored['version'])}, this gradsurge reads {VERSION}"
                )
            arrays = zip(stored["counts"], stored["sums"], stored["positives"], strict=True)
            keys = [tuple(map(str, key)) for key in stored["keys"]]
            bins = [Bins(c, s.astype(np.float64), p) for c, s, p in arrays]
            found = dict(zip(keys, bins, strict=True))
    except _UNREADABLE as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"{shown(file)}: no bins of a record ({reason})") from error
    return {(key[0], key[1], key[2]): value for key, value in found.items()}


def _stacked(arrays: list[NDArray[Any]], dtype: Any) -> NDArray[Any]:
    return np.stack(arrays).astype(dtype) if arrays else np.zeros((0, BINS), dtype)
