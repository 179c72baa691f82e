"""NIfTI-1 and -2, single files, plain or gzipped."""

import gzip
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import nibabel
import numpy as np
from nibabel import imageglobals
from numpy.typing import NDArray

from gradsurge.data.case_error import CaseError, shown
from gradsurge.data.formats.quiet import complaints
from gradsurge.data.formats.stored import StoredImage, check_size

_MILLIMETRES = {"meter": 1000.0, "mm": 1.0, "micron": 0.001, "unknown": 1.0}
_NIFTI2_HEADER = 540
_GZIP_MAGIC = b"\x1f\x8b"
_PIECE = 1 << 20


class _Inflated(gzip.GzipFile):
    """A gzip stream that fills a buffer piece by piece; the base class holds all of it twice."""

    def readinto(self, buffer: Any) -> int:
        view, filled = memoryview(buffer).cast("B"), 0
        while piece := self.read(min(_PIECE, len(view) - filled)):
            view[filled : filled + len(piece)] = piece
            filled += len(piece)
        return filled


def read_nifti(path: Path) -> StoredImage:
    """Return the array of a NIfTI file in its stored order (x, y, z, ...), scaling not applied."""
    with _stream(path) as stream, complaints(imageglobals.logger):
        image = _image_class(stream).from_file_map(
            nibabel.Nifti1Image.make_file_map({"image": stream}), mmap=False
        )
        dtype = image.get_data_dtype()
        if dtype.kind not in "biuf":
            raise CaseError(
                f"{shown(path)}: holds {dtype.name} values (colour or complex), "
                f"expected one number a voxel: split it into files of one channel each"
            )
        deflated = isinstance(stream, gzip.GzipFile)
        size = path.stat().st_size
        check_size(path, image.shape, dtype.itemsize, stored=size, deflated=deflated)
        array = image.dataobj.get_unscaled()
        _read_to_the_end(stream)
    affine = affine_in_mm(image, path)
    return StoredImage(
        array,
        "nifti",
        spacing=_spacing(affine, min(array.ndim, 3)),
        affine=affine,
        slope=float(image.dataobj.slope),
        intercept=float(image.dataobj.inter),
    )


def read_nifti_header(path: Path) -> Any:
    """Return nibabel's image of a file, for its header and affine; the values are not to be had."""
    with _stream(path) as stream, complaints(imageglobals.logger):
        file_map = nibabel.Nifti1Image.make_file_map({"image": stream})
        return _image_class(stream).from_file_map(file_map, mmap=False)


@contextmanager
def _stream(path: Path) -> Iterator[IO[bytes] | gzip.GzipFile]:
    """Open by content, not by name: a .nii.gz that is not compressed is common."""
    with path.open("rb") as file:
        compressed = file.read(2) == _GZIP_MAGIC
        file.seek(0)
        if not compressed:
            yield file
            return
        with _Inflated(fileobj=file) as inflated:
            yield inflated


def _image_class(stream: IO[bytes] | gzip.GzipFile) -> Any:
    head = stream.read(4)
    stream.seek(0)
    if len(head) < 4:
        raise EOFError("the file is empty or cut off")
    nifti2 = _NIFTI2_HEADER in (int.from_bytes(head, "little"), int.from_bytes(head, "big"))
    return nibabel.Nifti2Image if nifti2 else nibabel.Nifti1Image


def _read_to_the_end(stream: IO[bytes] | gzip.GzipFile) -> None:
    """Make gzip compare its checksum, which it does only at the end of the stream."""
    if isinstance(stream, gzip.GzipFile):
        while stream.read(_PIECE):
            continue


def affine_in_mm(image: Any, path: Path) -> NDArray[np.float64]:
    """Return the affine of nibabel's image in mm, whatever unit its header has.

    Raises:
        CaseError: it holds NaN or infinite numbers.
    """
    affine = np.array(image.affine, dtype=np.float64)
    if not np.isfinite(affine).all():
        raise CaseError(f"{shown(path)}: the affine holds NaN or infinite numbers; mend the header")
    unit = image.header.get_xyzt_units()[0]
    affine[:3] *= _MILLIMETRES[unit]
    return affine


def _spacing(affine: NDArray[np.float64], axes: int) -> tuple[float, ...] | None:
    lengths = np.sqrt((affine[:3, :axes] ** 2).sum(axis=0))
    return tuple(float(n) for n in lengths) if (lengths > 0).all() else None
