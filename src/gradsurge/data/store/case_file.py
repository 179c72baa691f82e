"""``case.json``: what is known of a stored case without reading its arrays."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gradsurge.data.case_error import CaseError, shown
from gradsurge.data.grid import Grid
from gradsurge.data.store.array_file import ArrayFile
from gradsurge.data.store.intensities import Intensities
from gradsurge.data.store.json_file import read_json, write_json
from gradsurge.data.store.stamp import Stamp

NAME = "case.json"
KIND = "gradsurge case"
_CURE = "delete its folder and run gradsurge prepare again"


@dataclass(frozen=True)
class CaseFile:
    """The facts of a case.

    Attributes:
        name: of the case.
        shape: (*S).
        spacing: mm along each axis of S.
        grid: where S lies in the source; None for phantoms.
        foreground: share of foreground among the voxels that are known.
        voxels: class number -> voxels, for every class that occurs.
        intensities: channel name -> statistics.
        arrays: "image", "label" and the extras -> their files.
        location_bytes: size of locations.npz.
        stamp: what it was made of.
    """

    name: str
    shape: tuple[int, ...]
    spacing: tuple[float, ...]
    grid: Grid | None
    foreground: float
    voxels: Mapping[int, int]
    intensities: Mapping[str, Intensities]
    arrays: Mapping[str, ArrayFile]
    location_bytes: int
    stamp: Stamp


def write_case_file(folder: Path, case: CaseFile) -> None:
    """Write it into the folder of the case."""
    content = asdict(case)
    content["grid"] = None if case.grid is None else case.grid.to_json()
    content["stamp"] = case.stamp.to_json()
    write_json(folder / NAME, KIND, content)


def read_case_file(folder: Path) -> CaseFile:
    """Read it from the folder of a case.

    Raises:
        CaseError: it is missing, damaged, or of another version.
    """
    file = folder / NAME
    try:
        return _from_json(read_json(file, KIND))
    except OSError as error:
        raise CaseError(f"{shown(file)}: {error.strerror or error}; {_CURE}") from error
    except (KeyError, TypeError, AttributeError) as error:
        raise CaseError(f"{shown(file)}: damaged (lacks {error}); {_CURE}") from error
    except ValueError as error:
        raise CaseError(f"{error}; {_CURE}") from error


def _from_json(stored: dict[str, Any]) -> CaseFile:
    return CaseFile(
        name=stored["name"],
        shape=tuple(stored["shape"]),
        spacing=tuple(stored["spacing"]),
        grid=None if stored["grid"] is None else Grid.from_json(stored["grid"]),
        foreground=stored["foreground"],
        voxels={int(number): count for number, count in stored["voxels"].items()},
        intensities={name: Intensities(**s) for name, s in stored["intensities"].items()},
        arrays={
            name: ArrayFile(tuple(facts["shape"]), facts["dtype"], facts["bytes"], facts["crc32"])
            for name, facts in stored["arrays"].items()
        },
        location_bytes=stored["location_bytes"],
        stamp=Stamp.from_json(stored["stamp"]),
    )
