"""The files of an nnU-Net raw folder, matched to cases."""

import re
from pathlib import Path
from typing import Literal

from gradsurge.data.datasets.finding import Finding, files_in, patient_of
from gradsurge.data.datasets.inputs import NIFTI, InputKind
from gradsurge.data.datasets.nnunet_description import Description
from gradsurge.data.formats.picture import PICTURES

_FAMILIES = (NIFTI, (".png", ".tif", ".tiff"), (".npz", ".npy"))  # of one order of axes each
_CHANNEL = re.compile(r"(?P<case>.+)_(?P<channel>[0-9]{4})", re.DOTALL)


def find_part(
    raw: Path,
    part: Literal["Tr", "Ts"],
    description: Description,
    finding: Finding,
    patient: str | None,
) -> None:
    """Add the cases of imagesTr and labelsTr, or of imagesTs and labelsTs, to what is found.

    Roles are "image" for the first channel, "image_1", ... for further ones, and "label".
    """
    ending = description.ending
    labels = {f.name[: -len(ending)]: f for f in files_in(raw / f"labels{part}", [ending])}
    images: dict[str, dict[int, Path]] = {}
    for file in files_in(raw / f"images{part}", [ending]):
        match = _CHANNEL.fullmatch(file.name[: -len(ending)])
        if match is None:
            finding.fail(file.name, f"expected <case>_0000{ending}, a channel's number last")
        else:
            images.setdefault(match["case"], {})[int(match["channel"])] = file
    for name in images.keys() | labels.keys():
        channels = images.get(name, {})
        fault = _fault(set(channels), name in labels, part, description)
        if fault is not None:
            finding.fail(name, fault)
            continue
        files = {f"image_{n}" if n else "image": f for n, f in sorted(channels.items())}
        split = "test" if part == "Ts" else None
        finding.add(name, {**files, "label": labels[name]}, patient_of(name, patient), split)


def input_kind(description: Description, dimensions: int) -> InputKind:
    """Return what images the data set takes for prediction: files whose axes have its order."""
    volumes = description.ending in NIFTI and dimensions == 3
    if in_one_file(1, description):
        return InputKind(("colours",), PICTURES, numbered=True)
    family: tuple[str, ...] = next(f for f in _FAMILIES if description.ending in f)
    if dimensions == 3 and family is not NIFTI:
        family = tuple(suffix for suffix in family if suffix != ".png")
    return InputKind(description.channels, family, numbered=True, series=volumes)


def in_one_file(files: int, description: Description) -> bool:
    """Return whether red, green and blue come in one picture, as nnU-Net allows."""
    return files == 1 and len(description.channels) == 3 and description.ending in PICTURES


def _fault(channels: set[int], labelled: bool, part: str, description: Description) -> str | None:
    """Return what is wrong with the files of a case, if anything."""
    ending, names = description.ending, description.channels
    if not labelled:
        return f"has no label in labels{part}; add it, or remove the image"
    if channels == {0} and in_one_file(1, description):
        return None
    for channel, name in enumerate(names):
        if channel not in channels:
            return (
                f"channel {name!r} of dataset.json is missing: expected the file "
                f"_{channel:04d}{ending} in images{part}"
            )
    if len(channels) > len(names):
        return f"has {len(channels)} channels, but dataset.json names {len(names)}; name them all"
    return None
