"""Intensity schemes as nnU-Net chooses them by the name of a channel."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gradsurge.data.case_error import CaseError, shown
from gradsurge.data.datasets.json_files import read_json
from gradsurge.data.datasets.nnunet_splits import beside
from gradsurge.data.datasets.raw_case import RawCase
from gradsurge.data.preprocessing import window, z_score

Reader = Callable[[RawCase], tuple[NDArray[np.float32], NDArray[np.bool_]]]

# nnU-Net looks at every training case; percentiles of 40 cases differ by a few units.
_MOST_CASES = 40
_SAMPLES = 20_000


class Foreground(NamedTuple):
    """Intensities of all labelled voxels: what nnU-Net's CT scheme needs."""

    low: float
    high: float
    mean: float
    deviation: float


def normalised(
    image: NDArray[np.float32],
    channels: Sequence[str],
    foreground: Mapping[int, Foreground],
    inside: NDArray[np.bool_] | None,
) -> NDArray[np.float32]:
    """Return (C, *S) with each channel as its name says.

    "CT": cut off at the 0.5 and 99.5 percentile of the data set's foreground, less its mean, over
    its deviation. "noNorm": as it is. "rescale_to_0_1": from 0 to 1. "rgb_to_0_1": over 255.
    Anything else: z-score of the case, inside a region if there is one.
    """
    for index, name in enumerate(channels):
        values = image[index : index + 1]
        scheme = name.lower()
        if scheme == "ct":
            values = window(values, *foreground[index])
        elif scheme == "rescale_to_0_1":
            values = (values - values.min()) / max(float(np.ptp(values)), 1e-8)
        elif scheme == "rgb_to_0_1":
            values = values / 255.0
        elif scheme != "nonorm":
            values = z_score(values, inside)
        image[index] = values[0]
    return image


def find_foreground(
    raw: Path, cases: Sequence[RawCase], channels: Sequence[str], read: Reader
) -> dict[int, Foreground]:
    """Return the foreground's intensities of the channels that need them: nnU-Net's, or measured.

    Args:
        raw: the raw folder; nnU-Net's fingerprint is looked for there and where it puts it.
        cases: all of them; those of the test set are not looked at.
        channels: names.
        read: as in `measure_foreground`.

    Raises:
        ValueError: a fingerprint that is none, or no labelled voxel.
    """
    needed = ct_channels(channels)
    if not needed:
        return {}
    file = beside(raw, "dataset_fingerprint.json")
    if file is not None:
        return read_fingerprint(file, needed)
    return measure_foreground([c for c in cases if c.split is None], needed, read)


def ct_channels(channels: Sequence[str]) -> list[int]:
    """Return the channels whose scheme needs the intensities of the whole data set."""
    return [i for i, name in enumerate(channels) if name.lower() == "ct"]


def read_fingerprint(file: Path, channels: Iterable[int]) -> dict[int, Foreground]:
    """Return the foreground's intensities from nnU-Net's own `dataset_fingerprint.json`.

    Raises:
        ValueError: it is not such a file.
    """
    content = read_json(file, dict)
    try:
        stored = content["foreground_intensity_properties_per_channel"]
        return {i: _stored(stored[str(i)]) for i in channels}
    except (LookupError, TypeError, ValueError) as error:
        raise ValueError(
            f"{shown(file)}: expected nnU-Net's foreground_intensity_properties_per_channel with "
            f"mean, std and percentiles; remove the file to have them measured"
        ) from error


def measure_foreground(
    cases: Sequence[RawCase], channels: Sequence[int], read: Reader
) -> dict[int, Foreground]:
    """Return the foreground's intensities, from at most 40 cases spread over the list.

    Args:
        cases: the training cases.
        channels: which to measure.
        read: case -> image (C, *S) and foreground (*S); cases it cannot read are passed over.
    """
    samples: list[NDArray[np.float32]] = []
    for case in cases[:: -(-len(cases) // _MOST_CASES) or 1]:
        try:
            image, inside = read(case)
        except CaseError:
            continue
        values = image[list(channels)][:, inside]
        samples.append(values[:, :: max(1, values.shape[1] // _SAMPLES)])
    pooled = np.concatenate([np.zeros((len(channels), 0), np.float32), *samples], axis=1)
    if pooled.shape[1] == 0:
        raise ValueError(
            "channel_names: 'CT' needs the intensities of labelled voxels, but no readable "
            "training case has any; name the channel otherwise to have it z-scored"
        )
    return {i: _measured(values) for i, values in zip(channels, pooled, strict=True)}


def _measured(values: NDArray[np.float32]) -> Foreground:
    low, high = np.percentile(values, (0.5, 99.5))
    mean, deviation = values.mean(dtype=np.float64), values.std(dtype=np.float64)
    return Foreground(float(low), float(high), float(mean), float(deviation))


def _stored(entry: Mapping[str, Any]) -> Foreground:
    names = ("percentile_00_5", "percentile_99_5", "mean", "std")
    return Foreground(*(float(entry[name]) for name in names))
