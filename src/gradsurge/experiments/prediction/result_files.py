"""The files of a prediction: which they are, what they may replace, what must not stay."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from gradsurge.data.case_error import printable, shown
from gradsurge.data.formats import suffix_of
from gradsurge.experiments.prediction.input_cases import InputCase
from gradsurge.experiments.prediction.listed_files import LABELS, MASKS, NAME, listed_files

_NIFTI = (".nii", ".nii.gz")


def possible_files(case: InputCase, out: Path) -> list[Path]:
    """Return every file that a case may write, before its image is read.

    Pictures become ``.tif`` maps with ``.png`` masks, stacks of them ``.tif`` masks.
    """
    volume = not case.files or case.files[0].is_dir() or suffix_of(case.files[0]) in _NIFTI
    maps, masks = ((".nii.gz",), (".nii.gz",)) if volume else ((".tif",), (".png", ".tif"))
    folders = (MASKS,) if case.label is None else (MASKS, LABELS)
    return [
        *(out / f"{case.name}{suffix}" for suffix in maps),
        *(out / folder / f"{case.name}{suffix}" for folder in folders for suffix in masks),
    ]


def earlier_files(out: Path) -> list[Path]:
    """Return the files of an earlier prediction into this folder, as it lists them."""
    return [file for files in listed_files(out).values() for file in files.values()]


def check_room(
    out: Path, place: Path, cases: Sequence[InputCase], *, overwrite: bool, earlier: Sequence[Path]
) -> None:
    """Raise ValueError if a result would take the place of an input, or of what nobody gave up."""
    folder = place if place.is_dir() else place.parent
    if out.resolve() == folder.resolve():
        raise ValueError(f"{shown(out)}: is the folder of the input; write to another one")
    targets = [file for case in cases for file in possible_files(case, out)]
    _check_inputs((*targets, *earlier), cases)
    there = [file for file in targets if file.is_symlink() or file.exists()]
    if not there and (out / NAME).exists():
        there = [out / NAME]
    if there and not overwrite:
        raise ValueError(
            f"{shown(out)}: holds {printable(there[0].relative_to(out).as_posix())} already"
            f"{f' and {len(there) - 1} more' if len(there) > 1 else ''}; --overwrite replaces it, "
            f"or choose another folder"
        )


def remove_files(files: Iterable[Path]) -> None:
    """Remove files that are there."""
    for file in files:
        file.unlink(missing_ok=True)


def _check_inputs(targets: Iterable[Path], cases: Sequence[InputCase]) -> None:
    """Raise if a target is a file of any case, by whatever link it is reached."""
    kept = {place for case in cases for file in case.kept for place in _places(file)}
    for target in targets:
        # A folder of slices is an input with everything in it.
        if any(place in kept or place.parent in kept for place in _places(target)):
            raise ValueError(
                f"{shown(target)}: is an input itself, or a link to one, and would be replaced; "
                f"choose another folder for the results"
            )


def _places(file: Path) -> tuple[Path, Path]:
    """Return the file, and the link it may be, where they really lie."""
    return file.resolve(), file.parent.resolve() / file.name
