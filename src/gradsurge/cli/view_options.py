"""Turning what was typed after ``gradsurge view`` into a request; mistakes are usage errors."""

from collections.abc import Sequence
from pathlib import Path

import typer

from gradsurge.cli.output import check_directory

Places = tuple[tuple[str, Path], ...]


def parse_places(texts: Sequence[str], scan: Path | None) -> tuple[Places, Path | None]:
    """Return folders of predictions or runs by name, and the scan.

    A file, or a folder of nothing but DICOM, is a scan itself.
    """
    found = [named(text) for text in texts]
    for _, path in found:
        if not path.exists():
            raise typer.BadParameter(f"no such file or folder: {path}")
    if len(found) == 1 and _is_scan(found[0][1]):
        if scan is not None:
            raise typer.BadParameter(f"--scan: {found[0][1]} is one already; give one of them")
        return (), found[0][1]
    for _, path in found:
        if _is_scan(path):
            raise typer.BadParameter(
                f"{path} is a scan, which stands alone: gradsurge view SCAN --map MAP --map MAP"
            )
    return tuple(found), scan


def parse_maps(texts: Sequence[str]) -> Places:
    """Return files of probabilities by name."""
    found = tuple(named(text) for text in texts)
    for _, path in found:
        if not path.is_file():
            raise typer.BadParameter(f"--map: no such file: {path}")
    return found


def named(text: str) -> tuple[str, Path]:
    """Return name and path of ``NAME=PATH`` or ``PATH``, whose name is then the path's.

    >>> named("ours=out/p.nii.gz"), named("out/p.nii.gz")[0]
    (('ours', PosixPath('out/p.nii.gz')), 'p')
    """
    name, separator, place = text.partition("=")
    if not separator or "/" in name or Path(text).exists():  # a path may have a = in it
        resolved = Path(text).resolve()
        return (resolved.name if resolved.is_dir() else resolved.name.split(".")[0]), Path(text)
    if not name.strip() or not name.isprintable():
        raise typer.BadParameter(f"expected NAME=PATH with a plain name, got {text!r}")
    return name, Path(place)


def check_html(file: Path | None) -> Path | None:
    """Refuse a file that could not be written, or that a browser would not take for a page."""
    if file is None:
        return None
    if file.suffix.lower() not in (".html", ".htm"):
        raise typer.BadParameter(f"expected a name that ends in .html, got {file}")
    if file.is_dir():
        raise typer.BadParameter(f"expected a file, {file} is a folder")
    check_directory(file.parent)
    return file


def _is_scan(path: Path) -> bool:
    if path.is_file():
        return True
    own = any((path / name).exists() for name in ("predictions.json", "config.json", "best.pt"))
    return not own and any(f.suffix.lower() in (".dcm", ".dicom", ".ima") for f in path.iterdir())
