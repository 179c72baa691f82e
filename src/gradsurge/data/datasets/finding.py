"""Cases and problems as they are found in a raw folder."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

from gradsurge.data.case_error import CaseError, printable, shown
from gradsurge.data.case_files import natural
from gradsurge.data.datasets.raw_case import Found, RawCase


class Finding:
    """Collects the cases of a folder; what cannot be one becomes a problem, and the rest goes on.

    A case is refused if its name is taken, or if a file of it lies outside the folder, which only
    a symbolic link can do.

    Args:
        raw: the folder.
        links: "inside" refuses those that lead out of the folder, "follow" takes them all.
    """

    def __init__(self, raw: Path, links: Literal["inside", "follow"] = "inside") -> None:
        self._root = Path(raw).absolute()
        self._inside = self._root.resolve() if links == "inside" else None
        self._cases: dict[str, RawCase] = {}
        self._twice: set[str] = set()
        self._problems: list[tuple[str, str]] = []

    def add(
        self,
        name: str,
        files: Mapping[str, Path],
        group: str | None = None,
        split: str | None = None,
    ) -> None:
        """Add a case; its group is itself unless told."""
        name = printable(name)
        try:
            self._check(name, files)
        except CaseError as error:
            self.fail(name, str(error))
            return
        self._cases[name] = RawCase(name, printable(group or name), dict(files), split)

    def fail(self, name: str, message: str) -> None:
        """Add a problem of a case or file."""
        self._problems.append((printable(name), message))

    def found(self, expected: str) -> Found:
        """Return what was found.

        Raises:
            ValueError: nothing was, not even a problem; ``expected`` says what should be there.
        """
        if not self._cases and not self._problems:
            raise ValueError(f"{shown(self._root)}: expected {expected}; found none")
        cases = sorted(
            (c for c in self._cases.values() if c.name not in self._twice),
            key=lambda c: natural(c.name),
        )
        return Found(cases, sorted(self._problems, key=lambda p: natural(p[0])))

    def _check(self, name: str, files: Mapping[str, Path]) -> None:
        if name in self._cases:
            self._twice.add(name)
            other = next(iter(self._cases[name].files.values()))
            raise CaseError(
                f"two cases have this name: {shown(other)} and "
                f"{shown(next(iter(files.values())))}; rename one, neither is used"
            )
        if self._inside is not None:
            for file in files.values():
                _check_inside(file, self._inside)


def _check_inside(file: Path, folder: Path) -> None:
    try:
        resolved = file.resolve()
    except (OSError, RuntimeError) as error:  # RuntimeError is pathlib's, until Python 3.13
        raise CaseError(
            f"{shown(file)}: its links lead in a circle; put the file itself there"
        ) from error
    if not resolved.is_relative_to(folder):
        raise CaseError(
            f"{shown(file)}: is a link that leads out of the folder; put the file itself there"
        )


def files_in(folder: Path, suffixes: Iterable[str]) -> list[Path]:
    """Return the files with one of the suffixes, in natural order; hidden ones are passed over.

    Raises:
        ValueError: no such folder, or it cannot be read.
    """
    ends = tuple(suffixes)
    try:
        inside = [p for p in Path(folder).iterdir() if not p.name.startswith(".")]
    except OSError as error:
        raise ValueError(
            f"{shown(folder)}: expected a readable folder ({error.strerror or error})"
        ) from error
    # A link that leads nowhere stays: reading it names it. Pipes and devices would hang.
    files = [p for p in inside if p.is_file() or (p.is_symlink() and not p.exists())]
    return sorted(
        (p for p in files if p.name.lower().endswith(ends)), key=lambda p: natural(p.name)
    )


def stem_before(file: Path, suffixes: Iterable[str]) -> str:
    """Return a file's name before the longest of the suffixes it ends in.

    >>> stem_before(Path("a.b.NII.gz"), [".gz", ".nii.gz"])
    'a.b'
    """
    name = file.name.lower()
    return file.name[: -max(len(s) for s in suffixes if name.endswith(s))]


def folders_in(folder: Path, pattern: str) -> list[Path]:
    """Return the folders whose whole name matches, in natural order; none if there is no folder."""
    try:
        inside = list(Path(folder).iterdir())
    except OSError:
        return []
    matching = [p for p in inside if re.fullmatch(pattern, p.name) and p.is_dir()]
    return sorted(matching, key=lambda p: natural(p.name))


def first_folder(candidates: Iterable[Path], expected: str) -> Path:
    """Return the first candidate that is a folder.

    Raises:
        ValueError: none is; with what was expected.
    """
    listed = list(candidates)
    for folder in listed:
        if folder.is_dir():
            return folder
    raise ValueError(f"{shown(listed[0].parent)}: expected {expected}")


def check_patient(pattern: str | None) -> None:
    """Raise ValueError unless a pattern of patients is a regular expression, or None."""
    try:
        re.compile(pattern or "")
    except re.error as error:
        raise ValueError(f"patient: {pattern!r} is no regular expression ({error})") from error


def patient_of(name: str, pattern: str | None) -> str:
    """Return the part of a case's name that names its patient.

    Args:
        name: of the case.
        pattern: a regular expression, whose first group (or whole match) is the patient; None:
            each case is a patient of its own. As `check_patient` has let it pass.

    Raises:
        ValueError: the name does not match: patients would be torn apart in silence.

    >>> patient_of("P012_slice3", r"(P[0-9]+)_"), patient_of("P012_slice3", None)
    ('P012', 'P012_slice3')
    """
    if pattern is None:
        return name
    match = re.search(pattern, name)
    if match is None:
        raise ValueError(
            f"patient: {pattern!r} does not match the case {name!r}; "
            f"choose one that matches every name, like '^([^_]+)'"
        )
    return match[1 if match.re.groups else 0] or name
