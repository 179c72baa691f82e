"""Predictions and labels of the same case, and those left without a partner."""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from gradsurge.data.case_error import CaseError, shown
from gradsurge.data.case_files import check_files, natural


class MatchedCase(NamedTuple):
    """The files of a case: one of the prediction, or one a channel, and the label's."""

    name: str
    prediction: tuple[Path, ...]
    label: Path


class Matching(NamedTuple):
    """Cases that can be read, and (name, message) of those that cannot."""

    cases: list[MatchedCase]
    problems: list[tuple[str, str]]


def match_cases(
    predictions: Mapping[str, tuple[Path, ...]], labels: Mapping[str, tuple[Path, ...]]
) -> Matching:
    """Pair predictions and labels by name, in natural order; say what has no partner.

    Args:
        predictions: from ``find_files(folder, cases=labels)``.
        labels: from ``find_files(folder)``.

    >>> match_cases({"a": (Path("p/a.npy"),)}, {"b": (Path("l/b.png"),)}).problems
    [('a', 'prediction a.npy has no label'), ('b', 'label b.png has no prediction')]
    """
    matching = Matching([], [])
    for name in sorted({*predictions, *labels}, key=natural):
        prediction, label = predictions.get(name, ()), labels.get(name, ())
        try:
            matching.cases.append(_pair(name, prediction, label))
        except CaseError as error:
            matching.problems.append((name, str(error)))
    return matching


def _pair(name: str, prediction: tuple[Path, ...], label: tuple[Path, ...]) -> MatchedCase:
    for kind, other, files, partners in (
        ("prediction", "label", prediction, label),
        ("label", "prediction", label, prediction),
    ):
        if not partners:
            raise CaseError(f"{kind} {shown(Path(files[0].name))} has no {other}")
    for kind, files in (("prediction", prediction), ("label", label)):
        try:
            check_files(files, name)
        except CaseError as error:
            raise CaseError(f"{kind}: {error}") from error
    return MatchedCase(name, prediction, label[0])
