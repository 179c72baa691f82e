"""What libraries raise on damaged files, turned into one line that names the file."""

import errno
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

_DAMAGED = "it is damaged or of another kind: write it again, or get it anew"
_CURES = {
    errno.ENOENT: "put it there, or remove the link that leads to it",
    errno.ELOOP: "its links lead in a circle: put the file itself there",
    errno.EACCES: "make it readable",
    errno.EPERM: "make it readable",
    errno.EISDIR: "expected a file",
    errno.EIO: "the disk or network failed: copy the file elsewhere",
}
# Libraries that talk to programmers, and what it means to others.
_WORDS = {
    "InvalidDicomError": "it has no DICOM header",
    "EntitiesForbidden": "it declares XML entities, which such a file never needs",
    "ExternalReferenceForbidden": "it refers to other files",
    "DTDForbidden": "it declares a document type",
}


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
        cure = _CURES.get((error.errno or 0) if isinstance(error, OSError) else 0, _DAMAGED)
        if isinstance(error, MemoryError):
            cure = "it needs more memory than there is: crop it, or use fewer processes"
        raise CaseError(
            f"{shown(path)}: cannot be read as {kind} ({_reason(error)}); {cure}"
        ) from error


def _reason(error: Exception) -> str:
    """Return in one line what a library complains of."""
    kind = type(error).__name__
    said = _WORDS.get(kind) or (error.strerror if isinstance(error, OSError) else None)
    return printable((said or str(error)).strip().partition("\n")[0])[:200] or kind
