"""Predictions without labels: whether x_0000, x_0001 are channels of x, or cases of their own."""

from collections.abc import Collection, Mapping
from pathlib import Path

from gradsurge.data.case_files import channel_of, find_files
from gradsurge.data.formats import suffix_of


def find_unlabelled(folder: Path, counts: Collection[int]) -> dict[str, tuple[Path, ...]]:
    """Return case name -> its file(s), in natural order, where no label tells the cases' names.

    Files are channels of ``x`` only if they are all that is named ``x_`` and four digits, run from
    ``x_0000`` without a gap, have one format, and are as many as ``counts`` allows. All others are
    cases of their own name. A lone ``x_0000`` is a channel whose partner is missing if the folder
    has other cases in channels; `check_files` refuses it.

    Args:
        folder: a folder of predictions.
        counts: how many channel files a case may have, 2 or more.

    Raises:
        ValueError: no such folder, or no file in it that we read.
    """
    named = find_files(folder)
    families: dict[str, list[str]] = {}
    for name in named:
        channel = channel_of(name)
        if channel is not None:
            families.setdefault(channel[0], []).append(name)
    joined = {x for x, names in families.items() if _are_channels(names, named, counts)}
    if joined:
        joined |= {x for x, names in families.items() if names == [f"{x}_0000"]}
    channels = {name for x in joined for name in families[x]}
    return find_files(folder, cases=named.keys() - channels)


def _are_channels(
    names: list[str], files: Mapping[str, tuple[Path, ...]], counts: Collection[int]
) -> bool:
    """Return whether the names, which have a case in common, are its channels."""
    numbers = [(channel_of(name) or ("", -1))[1] for name in names]
    suffixes = {suffix_of(file) for name in names for file in files[name]}
    single = all(len(files[name]) == 1 for name in names) and len(suffixes) == 1
    return single and len(names) in counts and numbers == list(range(len(names)))
