"""Which files of a folder belong to which case."""

import re
from collections.abc import Collection, Sequence
from pathlib import Path

from gradsurge.data.case_error import CaseError, printable
from gradsurge.data.formats import READERS, stem_of, suffix_of

_CHANNEL = re.compile(r"(?P<case>.+)_(?P<channel>[0-9]{4})")


def find_files(folder: Path, cases: Collection[str] | None = None) -> dict[str, tuple[Path, ...]]:
    """Return case name -> its file(s), in natural order (case 2 before case 10).

    The name of a case is its file's name without the suffix. Hidden files, sub-folders and other
    suffixes (.json, .pkl, .csv, ...) are passed over. Two files of one case that do not belong
    together stay listed together: `match_cases` reports them.

    Args:
        folder: a folder of labels or predictions.
        cases: None for labels. For predictions the names of the labelled cases: then
            ``<case>_0000``, ``<case>_0001``, ... are channels of ``<case>``, unless there is a
            label of that full name; and beside nnU-Net's ``<case>.npz`` the hard mask it writes
            is left out.

    Raises:
        ValueError: no such folder, or no file in it that we read.
    """
    folder = Path(folder)
    found: dict[str, list[Path]] = {}
    for path in _readable_files(folder):
        found.setdefault(_case_of(printable(stem_of(path)), cases), []).append(path)
    if not found:
        raise ValueError(
            f"{printable(str(folder))}: holds no file of type {', '.join(READERS)}; "
            f"sub-folders are not searched"
        )
    return {
        name: tuple(files if cases is None else _without_hard_mask(files))
        for name, files in sorted(found.items(), key=lambda item: natural(item[0]))
    }


def check_files(files: Sequence[Path], case: str | None = None) -> None:
    """Raise CaseError unless this is one file, or channels 0000, 0001, ... of one format.

    Args:
        files: the files of one case.
        case: its name, which tells a lone channel (``a_0000`` of case ``a``) from a whole case: of
            several channels the first is the background.
    """
    if len(files) == 1 and case in (None, printable(stem_of(files[0]))):
        return
    listed = printable(", ".join(f.name for f in files[:4])) + (", ..." if len(files) > 4 else "")
    numbers = [_channel_number(f) for f in files]
    if None in numbers or len({suffix_of(f) for f in files}) > 1:
        raise CaseError(f"{len(files)} files for one case ({listed}); keep one of them")
    if numbers != list(range(len(files))):
        raise CaseError(
            f"channel files must be numbered _0000, _0001, ... without gaps; got {listed}"
        )
    if len(files) == 1:
        raise CaseError(
            f"one channel file only: {listed}; add _0001, ..., or if it is the foreground, give it "
            f"the name of its label"
        )


def channel_of(stem: str) -> tuple[str, int] | None:
    """Return case and number of a name that looks like a channel's; None for other names.

    >>> channel_of("a_0001"), channel_of("hippocampus_001")
    (('a', 1), None)
    """
    match = _CHANNEL.fullmatch(stem)
    return None if match is None else (match["case"], int(match["channel"]))


def natural(name: str) -> tuple[list[tuple[int, str]], str]:
    """Return a sorting key that counts: numbers inside a name compare as numbers.

    >>> sorted(["b10", "b9", "a"], key=natural)
    ['a', 'b9', 'b10']
    """
    parts = re.split(r"([0-9]+)", name)
    return [(int(p), "") if i % 2 else (0, p) for i, p in enumerate(parts)], name


def _readable_files(folder: Path) -> list[Path]:
    try:
        return sorted(filter(_is_ours, folder.iterdir()), key=lambda path: natural(path.name))
    except OSError as error:
        raise ValueError(
            f"{printable(str(folder))}: expected a readable folder ({error.strerror or error})"
        ) from error


def _is_ours(path: Path) -> bool:
    if path.name.startswith(".") or suffix_of(path) is None:
        return False
    # A link that leads nowhere stays: reading it names it. Pipes and devices would hang.
    return path.is_file() or (path.is_symlink() and not path.exists())


def _case_of(stem: str, cases: Collection[str] | None) -> str:
    channel = None if cases is None or stem in cases else channel_of(stem)
    return stem if channel is None else channel[0]


def _channel_number(path: Path) -> int | None:
    channel = channel_of(stem_of(path))
    return None if channel is None else channel[1]


def _without_hard_mask(files: list[Path]) -> list[Path]:
    """Return nnU-Net's .npz alone if the other file is the mask of that name beside it."""
    arrays = [f for f in files if suffix_of(f) == ".npz"]
    masks = [f for f in files if suffix_of(f) not in (".npz", ".npy")]
    pair = len(files) == 2 and len(arrays) == len(masks) == 1
    return arrays if pair and stem_of(arrays[0]) == stem_of(masks[0]) else files
