"""Label sets: which class numbers together are one structure."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class LabelSet:
    """A structure to score: its name and the class numbers that belong to it."""

    name: str
    values: tuple[int, ...]

    def __post_init__(self) -> None:
        if not self.name or not self.name.isprintable():
            raise ValueError(f"name: expected printable text, got {self.name!r}")
        if not self.values or any(v < 0 for v in self.values):
            raise ValueError(f"values: expected class numbers >= 0, got {self.values!r}")
        if len(set(self.values)) < len(self.values):
            raise ValueError(f"values: {self.name!r} names a class twice: {self.values!r}")

    def __str__(self) -> str:
        return f"{self.name}={','.join(map(str, self.values))}"


def parse_label_set(text: str) -> LabelSet:
    """Return the label set written as NAME=NUMBER[,NUMBER...].

    >>> parse_label_set("kidney+tumour=1,2")
    LabelSet(name='kidney+tumour', values=(1, 2))

    Raises:
        ValueError: the text is not of that form.
    """
    name, _, numbers = text.rpartition("=")
    parts = [part.strip() for part in numbers.split(",")]
    if not name.strip() or not all(re.fullmatch("[0-9]{1,9}", part) for part in parts):
        raise ValueError(f"label set: expected NAME=1 or NAME=1,2 (class numbers), got {text!r}")
    return LabelSet(name.strip(), tuple(int(part) for part in parts))
