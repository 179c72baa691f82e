"""Where the scan and the label of a predicted case lie, as the prediction tells."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gradsurge.data.case_error import CaseError, shown
from gradsurge.data.formats import suffix_of
from gradsurge.data.formats.dicom_series import slices_in
from gradsurge.data.images import find_image
from gradsurge.data.store import Store, StoredCase
from gradsurge.experiments.prediction.input_cases import find_cases, is_store
from gradsurge.experiments.viewing.prediction_folder import PredictionFolder
from gradsurge.experiments.viewing.scan import Scan, read_scan, stored_scan


@dataclass(frozen=True)
class Found:
    """What was found of a case.

    Attributes:
        scan: None if there is none.
        label: its file; None if there is none.
        note: what is missing, for the user; empty if nothing.
    """

    scan: Scan | None
    label: Path | None
    note: str = ""


def find_sources(predictions: PredictionFolder, case: str, channel: int | None) -> Found:
    """Return scan and label of a case; what cannot be found is told, and no error.

    Raises:
        CaseError: the scan is there and cannot be read.
    """
    own_label = predictions.files[case].get("label")
    told = str(predictions.about.get("input", ""))
    place = _place_of(told, predictions.folder)
    if place is None:
        return Found(
            None, own_label, f"no scan: {told!r}, which was predicted, is not here; give --scan"
        )
    if is_store(place):
        return _of_store(place, case, channel, own_label)
    files = _raw_files(predictions, place, case)
    number = channel or 0
    if not files:
        return Found(None, own_label, f"no scan of it in {shown(place)}; give --scan")
    if len(files) > 1 and not 0 <= number < len(files):
        raise CaseError(f"--channel: {case} has channels 0 to {len(files) - 1}, got {channel}")
    if len(files) == 1:
        return Found(read_scan(files[0], channel), own_label)
    return Found(read_scan(files[number]), own_label)


def _place_of(told: str, folder: Path) -> Path | None:
    """Return the input of a prediction; a relative path was that of another working directory."""
    if not told:
        return None
    tried = [Path(told), *(parent / told for parent in folder.resolve().parents)]
    return next((place for place in tried if place.exists()), None)


def _of_store(place: Path, case: str, channel: int | None, own_label: Path | None) -> Found:
    store = Store.open(place)
    try:
        stored = store.case(case)
    except ValueError as error:
        return Found(None, own_label, f"no scan: {error}")
    label = own_label or _label_file(stored)
    images = [f for role, f in stored.source_files.items() if role.startswith("image")]
    number = channel or 0
    names = store.dataset.channel_names
    if len(images) > 1 and not 0 <= number < len(images):
        raise CaseError(f"--channel: {case} has channels 0 to {len(images) - 1}, got {channel}")
    file = images[number if len(images) > 1 else 0] if images else None
    if file is not None and file.exists():
        named = number < len(names) and len(images) > 1
        title = f"{names[number]}, {file.name}" if named else None
        return Found(read_scan(file, channel if len(images) == 1 else None, title), label)
    return Found(_prepared_scan(stored, number), label)


def _label_file(stored: StoredCase) -> Path | None:
    file = stored.source_files.get("label")
    return file if file is not None and file.is_file() and suffix_of(file) is not None else None


def _prepared_scan(stored: StoredCase, number: int) -> Scan:
    """Return the stored image, on the grid of its source where it had one."""
    from gradsurge.data.preprocessing import to_source

    image = stored.read_image()
    if not 0 <= number < len(image):
        raise CaseError(
            f"--channel: {stored.name} has channels 0 to {len(image) - 1}, got {number}"
        )
    grid, chosen = stored.grid, image[number]
    if grid is None:
        return stored_scan(chosen, stored.spacing, stored.folder, "as prepared")
    values = to_source(chosen[None], grid, [float(chosen.min())])[0]
    affine = None if grid.source_affine is None else np.array(grid.source_affine)
    return Scan(
        values, False, grid.source_spacing, affine, stored.folder, "as prepared; its file is gone"
    )


def _raw_files(predictions: PredictionFolder, place: Path, case: str) -> list[Path]:
    """Return the scan's files, one a channel."""
    if place.is_file():
        return [place]
    first = find_image(place, case)
    if first is not None:
        return _with_other_channels(first)
    series = next((d for d in (place, *_folders(place)) if _series_name(d, place) == case), None)
    if series is not None and slices_in(series):
        return [series]
    return _as_the_run_finds_it(predictions.about, place, case)


def _with_other_channels(first: Path) -> list[Path]:
    head, zero, tail = first.name.rpartition("_0000")
    if not zero:
        return [first]
    others = (first.with_name(f"{head}_{n:04d}{tail}") for n in range(1, 10_000))
    files = [first]
    for file in others:
        if not file.is_file():
            break
        files.append(file)
    return files


def _folders(place: Path) -> list[Path]:
    return sorted(d for d in place.rglob("*") if d.is_dir())


def _series_name(folder: Path, place: Path) -> str:
    parts = folder.relative_to(place).parts
    return "_".join(parts) if parts else folder.resolve().name


def _as_the_run_finds_it(about: Mapping[str, object], place: Path, case: str) -> list[Path]:
    """Return what the run's data set takes for the scan: published ones have their own layout."""
    from gradsurge.experiments.runs.run_folder import read_config

    runs = about["runs"]
    if not isinstance(runs, list):
        return []
    try:
        found = find_cases(place, read_config(Path(runs[0]["run"])).dataset)
    except ValueError:  # the run is gone: its way to find scans, too
        return []
    return next((list(c.files) for c in found.cases if c.name == case), [])
