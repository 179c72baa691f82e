"""What libraries raise on damaged files, turned into one line that names the file."""

import lzma
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nibabel.filebasedimages import ImageFileError
from nibabel.spatialimages import HeaderDataError
from nibabel.wrapstruct import WrapStructError

from gradsurge.data.case_error import CaseError, printable, shown

# Found by flipping and cutting bytes of good files.
_FAULTS = (
    ImageFileError,
    HeaderDataError,
    WrapStructError,
    OSError,  # gzip.BadGzipFile, PIL.UnidentifiedImageError too
    EOFError,
    ValueError,  # tifffile.TiffFileError, defusedxml's refusals too
    zlib.error,
    lzma.LZMAError,
    zipfile.BadZipFile,
    RuntimeError,  # an encrypted or oddly compressed zip; too deep a nesting
    struct.error,
    SyntaxError,  # Pillow on a broken header, XML that is not well-formed
    tokenize.TokenError,  # NumPy on a broken header
    MemoryError,
    # tifffile goes on with whatever a damaged tag says, until something does not fit; pydicom
    # asks for attributes that a damaged file does not have.
    AssertionError,
    ArithmeticError,
    AttributeError,
    LookupError,
    TypeError,
    Warning,
)


@contextmanager
def reading(path: Path, kind: str, also: tuple[type[Exception], ...] = ()) -> Iterator[None]:
    """Turn what a reader raises into `CaseError`: one line with the file, its kind, the reason.

    Args:
        path: the file.
        kind: what it should be: ".png", "DICOM", ...
        also: more exceptions a reader has of its own.
    """
    try:
        yield
    except CaseError:
        raise
    except (*_FAULTS, *also) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        first_line = printable(reason.strip().partition("\n")[0])[:200] or type(error).__name__
        raise CaseError(f"{shown(path)}: cannot be read as {kind} ({first_line})") from error
