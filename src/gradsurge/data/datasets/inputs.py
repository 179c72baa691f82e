"""Images to predict on: files, folders of files, DICOM series; labels play no part."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gradsurge.data.case_error import printable, shown
from gradsurge.data.case_files import channel_of
from gradsurge.data.datasets.finding import Finding, files_in, folders_in, stem_before
from gradsurge.data.datasets.raw_case import Found
from gradsurge.data.formats.dicom_series import is_dicom, slices_in

NIFTI = (".nii.gz", ".nii")
_LEVELS = 4  # of folders below one in the input: study, series, and what archives add


@dataclass(frozen=True)
class InputKind:
    """What images of a data set look like where there is no published layout.

    Attributes:
        channels: names of the channels, one file each.
        suffixes: of the files.
        numbered: whether ``<case>_0000``, ``<case>_0001``, ... are channels of one case. With one
            channel the number may be left out.
        series: whether a folder of DICOM slices is a channel.
        in_folder: the name of the image in a folder of its case, ``{case}`` for the folder's name;
            None if there is no such layout.
    """

    channels: Sequence[str]
    suffixes: Sequence[str]
    numbered: bool = False
    series: bool = False
    in_folder: str | None = None

    @property
    def expected(self) -> str:
        """In words, for messages."""
        name = "<case>_0000, <case>_0001, ... " if len(self.channels) > 1 else ""
        series = ", or folders of DICOM slices" if self.series else ""
        return f"images {name}of type {', '.join(self.suffixes)}{series}"


def find_inputs(place: Path, kind: InputKind) -> Found:
    """Return the images of a folder, or that of one file, as cases.

    Roles are "image", "image_1", ... for the channels.

    Links may lead anywhere: who asks for a prediction chose them.

    Raises:
        ValueError: there is none; one line that says what was expected.
    """
    finding = Finding(place, links="follow")
    entries = _entries(place, kind, finding)
    if not kind.numbered:
        for name, file in entries:
            finding.add(name, {"image": file})
    else:
        _add_numbered(entries, kind, finding)
    return finding.found(kind.expected)


def _entries(place: Path, kind: InputKind, finding: Finding) -> list[tuple[str, Path]]:
    """Return (name, file or folder of slices) of everything that is an image."""
    if place.is_file():
        return _of_file(place, kind)
    if kind.series and place.is_dir() and _slices(place, finding):
        return [(place.resolve().name, place)]
    entries = [(stem_before(f, kind.suffixes), f) for f in files_in(place, kind.suffixes)]
    for folder in folders_in(place, r"[^.].*"):
        if kind.in_folder is not None and (file := _inside(folder, kind.in_folder)).is_file():
            entries.append((folder.name, file))
        elif kind.series:
            entries += _series(folder, folder.name, finding)
    return entries


def _series(
    folder: Path, name: str, finding: Finding, levels: int = _LEVELS
) -> list[tuple[str, Path]]:
    """Return the series of a folder and of those in it, as patient/study/series; names joined."""
    found = [(name, folder)] if _slices(folder, finding) else []
    if levels > 0:  # links may lead in a circle
        for below in folders_in(folder, r"[^.].*"):
            found += _series(below, f"{name}_{below.name}", finding, levels - 1)
    return found


def _of_file(file: Path, kind: InputKind) -> list[tuple[str, Path]]:
    """Return the file, with the other channels beside it if it is one of several."""
    if not file.name.lower().endswith(tuple(kind.suffixes)):
        if kind.series and is_dicom(file):
            raise ValueError(
                f"{shown(file)}: is one slice of a DICOM series; give its folder, "
                f"{shown(file.absolute().parent)}"
            )
        raise ValueError(f"{shown(file)}: expected {kind.expected}")
    name = stem_before(file, kind.suffixes)
    channel = channel_of(name)
    if not kind.numbered or len(kind.channels) == 1 or channel is None:
        return [(name, file)]
    beside = ((stem_before(f, kind.suffixes), f) for f in files_in(file.parent, kind.suffixes))
    return [(n, f) for n, f in beside if (other := channel_of(n)) and other[0] == channel[0]]


def _inside(folder: Path, pattern: str) -> Path:
    return folder / pattern.replace("{case}", folder.name)


def _slices(folder: Path, finding: Finding) -> bool:
    try:
        return bool(slices_in(folder))
    except OSError as error:
        finding.fail(folder.name, f"{shown(folder)}: {error.strerror or error}; make it readable")
        return False


def _add_numbered(entries: Sequence[tuple[str, Path]], kind: InputKind, finding: Finding) -> None:
    cases: dict[str, dict[int, list[Path]]] = {}
    names = {name for name, _ in entries}
    for name, file in entries:
        case, number = channel_of(name) or (name, 0)
        if len(kind.channels) == 1 and f"{case}_0000" not in names:
            case, number = name, 0  # the number means something else: scan_2021
        cases.setdefault(case, {}).setdefault(number, []).append(file)
    for case, files in cases.items():
        fault = _fault(case, files, kind)
        if fault is not None:
            finding.fail(case, fault)
        else:
            roles = {f"image_{n}" if n else "image": f for n, (f,) in sorted(files.items())}
            finding.add(case, roles)


def _fault(case: str, files: Mapping[int, Sequence[Path]], kind: InputKind) -> str | None:
    """Return what is wrong with the files of a case, if anything."""
    got = ", ".join(printable(file.name) for found in files.values() for file in found)
    if any(len(found) > 1 for found in files.values()):
        return f"has two files for a channel: {got}; keep one"
    if sorted(files) == list(range(len(kind.channels))):
        return None
    expected = [f"{printable(case)}_{n:04d} ({name})" for n, name in enumerate(kind.channels)]
    return f"expected {' and '.join(expected)}, got {got}; add what is missing, move what is not"
