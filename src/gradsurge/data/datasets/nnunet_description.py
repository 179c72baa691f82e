"""What an nnU-Net v2 `dataset.json` says of channels, labels, regions and files."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradsurge.data.case_error import printable, shown
from gradsurge.data.datasets.json_files import read_json
from gradsurge.data.formats import READERS

if TYPE_CHECKING:  # the store imports the data sets
    from gradsurge.data.store.dataset_file import DatasetFile

_LARGEST_CLASS = 255


@dataclass(frozen=True)
class Description:
    """The parts of `dataset.json` that count.

    Attributes:
        channels: names in order; nnU-Net chooses the intensity scheme by them.
        names: class number -> name, without the ignore label.
        sets: region -> class numbers; empty unless a label is a list of several numbers.
        region_order: `regions_class_order`, the class each region is painted with.
        ignore: class number of unknown voxels.
        ending: of all files.
        title: what the data set calls itself.
    """

    channels: tuple[str, ...]
    names: Mapping[int, str]
    sets: Mapping[str, tuple[int, ...]]
    region_order: tuple[int, ...]
    ignore: int | None
    ending: str
    title: str

    def merged(self, name: str) -> "Description":
        """Return the same with one foreground class, and 2 for unknown voxels."""
        ignore = None if self.ignore is None else 2
        names = {0: "background", 1: name}
        return replace(self, names=names, sets={}, region_order=(), ignore=ignore)


def read_description(file: Path) -> Description:
    """Return what `dataset.json` says.

    Raises:
        ValueError: it is not nnU-Net v2's, or contradicts itself; one line with the entry.
    """
    content = read_json(file, dict)
    if "channel_names" not in content and "modality" in content:
        raise ValueError(
            f"{shown(file)}: is of nnU-Net v1 or the Decathlon (entry 'modality'); convert it "
            f"with nnUNetv2_convert_MSD_dataset or nnUNetv2_convert_old_nnUNet_dataset"
        )
    try:
        labels = _labels(content["labels"])
        ignore = labels.pop("ignore", (None,))[0]
        sets = _regions(labels, content.get("regions_class_order"))
        return Description(
            _channels(content["channel_names"]),
            _names(labels),
            sets,
            tuple(content.get("regions_class_order") or ()) if sets else (),
            _checked_ignore(ignore, labels),
            _ending(content["file_ending"]),
            _title(content.get("name"), file.absolute().parent.name),
        )
    except KeyError as error:
        raise ValueError(f"{shown(file)}: lacks the entry {error}; see nnU-Net's format") from error
    except ValueError as error:
        raise ValueError(f"{shown(file)}: {printable(str(error))}") from error


def stored_description(facts: "DatasetFile") -> Description:
    """Return what a store that was made of such a folder keeps of it."""
    return Description(
        tuple(facts.channel_names),
        facts.label_names,
        {name: tuple(numbers) for name, numbers in facts.label_sets.items()},
        tuple(facts.settings["regions_class_order"]),
        facts.ignore_label,
        facts.settings["ending"],
        facts.title,
    )


def _channels(entry: Any) -> tuple[str, ...]:
    numbered = isinstance(entry, dict) and sorted(entry) == sorted(map(str, range(len(entry))))
    if not numbered or not entry:
        raise ValueError(f"channel_names: expected {{'0': name, '1': name, ...}}, got {entry!r}")
    return tuple(str(entry[str(i)]) for i in range(len(entry)))


def _labels(entry: Any) -> dict[str, tuple[Any, ...]]:
    if not isinstance(entry, dict) or entry.get("background") != 0:
        raise ValueError(f"labels: expected names with numbers, 'background' as 0, got {entry!r}")
    labels: dict[str, tuple[Any, ...]] = {}
    for name, value in entry.items():
        numbers = tuple(value) if isinstance(value, list) else (value,)
        whole = all(isinstance(n, int) and not isinstance(n, bool) for n in numbers)
        if not numbers or not whole or not 0 <= min(numbers) <= max(numbers) <= _LARGEST_CLASS:
            raise ValueError(f"labels: expected numbers from 0 to 255 for {name!r}, got {value!r}")
        labels[str(name)] = numbers
    return labels


def _regions(labels: Mapping[str, tuple[int, ...]], order: Any) -> dict[str, tuple[int, ...]]:
    if all(len(numbers) == 1 for numbers in labels.values()):
        return {}
    sets = {name: numbers for name, numbers in labels.items() if set(numbers) != {0}}
    right = isinstance(order, list) and all(isinstance(n, int) for n in order)
    if not right or len(order) != len(sets):
        raise ValueError(
            f"regions_class_order: expected one class number for each of the {len(sets)} regions, "
            f"got {order!r}"
        )
    return sets


def _names(labels: Mapping[str, tuple[int, ...]]) -> dict[int, str]:
    """Return a name for each number: its own, or what it has to be called if only in regions."""
    own = {numbers[0]: name for name, numbers in labels.items() if len(numbers) == 1}
    if len(own) < sum(len(numbers) == 1 for numbers in labels.values()):
        raise ValueError(f"labels: two names have one number in {dict(labels)!r}")
    every = sorted({n for numbers in labels.values() for n in numbers})
    return {n: own.get(n, f"class {n}") for n in every}


def _checked_ignore(ignore: int | None, labels: Mapping[str, tuple[int, ...]]) -> int | None:
    largest = max(n for numbers in labels.values() for n in numbers)
    if ignore is not None and ignore != largest + 1:
        raise ValueError(f"labels: 'ignore' must be the highest, {largest + 1}, got {ignore}")
    return ignore


def _ending(entry: Any) -> str:
    if entry not in READERS:
        raise ValueError(
            f"file_ending: expected one of {', '.join(READERS)}, got {entry!r}; convert the files"
        )
    return str(entry)


def _title(entry: Any, folder: str) -> str:
    """Return the name in the file, or that of the folder if it is one of nnU-Net's."""
    if isinstance(entry, str) and entry.strip():
        return printable(entry.strip())
    return printable(folder) if re.fullmatch(r"Dataset[0-9]{3}_.+", folder) else "nnunet"
