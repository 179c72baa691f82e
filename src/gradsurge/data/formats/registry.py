"""File suffixes, the stems before them, and the one boundary where readers' errors are caught."""

import lzma
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

from nibabel.filebasedimages import ImageFileError
from nibabel.spatialimages import HeaderDataError
from nibabel.wrapstruct import WrapStructError

from gradsurge.data.case_error import CaseError, printable, shown
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

# What the libraries raise on damaged files; found by flipping and cutting bytes of good ones.
_FAULTS = (
    ImageFileError,
    HeaderDataError,
    WrapStructError,
    OSError,  # gzip.BadGzipFile, PIL.UnidentifiedImageError too
    EOFError,
    ValueError,  # tifffile.TiffFileError too
    zlib.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
    RuntimeError,  # an encrypted or oddly compressed zip
    struct.error,
    SyntaxError,  # Pillow on a broken header
    tokenize.TokenError,  # NumPy on a broken header
    MemoryError,
    # tifffile goes on with whatever a damaged tag says, until something does not fit.
    AssertionError,
    ArithmeticError,
    LookupError,
    TypeError,
    Warning,
)


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
    try:
        return READERS[suffix](path)
    except CaseError:
        raise
    except _FAULTS as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        first_line = printable(reason.strip().partition("\n")[0])[:200] or type(error).__name__
        raise CaseError(f"{shown(path)}: cannot be read as {suffix} ({first_line})") from error
