"""File suffixes, the stems before them, and the reader of each."""

from collections.abc import Callable
from pathlib import Path

from gradsurge.data.case_error import CaseError, shown
from gradsurge.data.formats.faults import reading
from gradsurge.data.formats.nifti import read_nifti
from gradsurge.data.formats.numpy_files import read_npy, read_npz
from gradsurge.data.formats.png import read_png
from gradsurge.data.formats.stored import StoredImage
from gradsurge.data.formats.tiff import read_tiff

READERS: dict[str, Callable[[Path], StoredImage]] = {
    ".nii.gz": read_nifti,
    ".nii": read_nifti,
    ".npz": read_npz,
    ".npy": read_npy,
    ".png": read_png,
    ".tif": read_tiff,
    ".tiff": read_tiff,
}


def suffix_of(path: Path) -> str | None:
    """Return the suffix in lower case if we read such files, else None.

    >>> suffix_of(Path("a.b.NII.gz")), suffix_of(Path("a.pkl"))
    ('.nii.gz', None)
    """
    name = path.name.lower()
    return next((s for s in READERS if name.endswith(s) and len(name) > len(s)), None)


def stem_of(path: Path) -> str:
    """Return the file's name without its suffix.

    >>> stem_of(Path("case 1.5.nii.gz"))
    'case 1.5'
    """
    suffix = suffix_of(path)
    return path.stem if suffix is None else path.name[: -len(suffix)]


def read_stored(path: Path) -> StoredImage:
    """Return what the file holds.

    Raises:
        CaseError: the file cannot be read; one line with its name and the reason.
    """
    suffix = suffix_of(path)
    if suffix is None:
        raise CaseError(f"{shown(path)}: expected a file of type {', '.join(READERS)}")
    with reading(path, suffix):
        return READERS[suffix](path)
