"""What a store holds, in numbers: case by case, and split by split."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from gradsurge.data.case_error import CaseError
from gradsurge.data.store.store import Store
from gradsurge.data.store.stored_case import StoredCase

Shape = tuple[int, ...]
Spacing = tuple[float, ...]


@dataclass(frozen=True)
class CaseSummary:
    """Facts of a case; ``split`` is None if it lies in none."""

    name: str
    split: str | None
    shape: Shape
    spacing: Spacing
    foreground: float
    voxels: dict[int, int]


@dataclass(frozen=True)
class SplitSummary:
    """Facts of the cases of a split; of shape, spacing and foreground (least, median, most)."""

    split: str
    cases: int
    shape: tuple[Shape, Shape, Shape]
    spacing: tuple[Spacing, Spacing, Spacing]
    foreground: tuple[float, float, float]
    empty: int


@dataclass(frozen=True)
class Summary:
    """All of it, and (case, message) of what is damaged."""

    store: Store
    cases: list[CaseSummary]
    splits: list[SplitSummary]
    problems: list[tuple[str, str]]

    def to_json(self) -> dict[str, Any]:
        """Return plain dictionaries."""
        return {
            **{k: v for k, v in asdict(self.store.dataset).items() if k not in ("cases", "splits")},
            "splits": {s.split: asdict(s) for s in self.splits},
            "cases": [asdict(case) for case in self.cases],
            "problems": [{"case": case, "problem": problem} for case, problem in self.problems],
        }


def summarise(
    store: Store, *, check: bool = False, on_case: Callable[[str], None] = lambda _: None
) -> Summary:
    """Look at every case of a store.

    Args:
        store: what to look at.
        check: read every array and compare its checksum.
        on_case: called after each case.
    """
    split_of = {case: split for split, names in store.splits.items() for case in names}
    rows: list[CaseSummary] = []
    problems: list[tuple[str, str]] = []
    for name in store.cases:
        try:
            rows.append(_of_case(store.case(name), split_of.get(name), check))
        except CaseError as error:
            problems.append((name, str(error)))
        on_case(name)
    splits = [_of_split(s, [row for row in rows if row.split == s]) for s in store.splits]
    return Summary(store, rows, [s for s in splits if s is not None], problems)


def _of_case(case: StoredCase, split: str | None, check: bool) -> CaseSummary:
    if check:
        case.check()
    facts = case.facts
    voxels = dict(facts.voxels)
    return CaseSummary(case.name, split, facts.shape, facts.spacing, facts.foreground, voxels)


def _of_split(split: str, rows: Sequence[CaseSummary]) -> SplitSummary | None:
    if not rows:
        return None
    foreground = [row.foreground for row in rows]
    shapes = list(zip(*(row.shape for row in rows), strict=True))
    spacings = list(zip(*(row.spacing for row in rows), strict=True))
    return SplitSummary(
        split,
        len(rows),
        (
            tuple(min(n) for n in shapes),
            tuple(round(median(n)) for n in shapes),
            tuple(max(n) for n in shapes),
        ),
        (
            tuple(min(n) for n in spacings),
            tuple(median(n) for n in spacings),
            tuple(max(n) for n in spacings),
        ),
        (min(foreground), median(foreground), max(foreground)),
        sum(value == 0 for value in foreground),
    )
