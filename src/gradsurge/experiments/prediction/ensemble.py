"""Several runs as one: whether they can be, and their common thresholds."""

from collections.abc import Mapping, Sequence
from typing import Any

from gradsurge.data.datasets import DATASETS
from gradsurge.data.store import DatasetFile
from gradsurge.experiments.prediction.predictor import Predictor

# What must be alike for probabilities to mean the same on the same voxels.
_SHARED = {
    "name": "data sets",
    "dimensions": "numbers of axes",
    "channel_names": "channels",
    "label_names": "classes",
    "label_sets": "regions",
    "settings": "preprocessing",
}
# Settings that say nothing of images: which numbers the foreground has in the source's labels.
_OF_LABELS = ("foreground",)


def check_ensemble(predictors: Sequence[Predictor]) -> None:
    """Raise unless all runs tell the same classes of images prepared in the same way.

    Raises:
        ValueError: with the first run that differs, and in what.
    """
    if not predictors:
        raise ValueError("runs: expected at least one, got none")
    first = predictors[0]
    for other in predictors[1:]:
        difference = preparation_difference(other.dataset, first.dataset)
        if difference is not None:
            raise ValueError(
                f"{other.run}: cannot be one ensemble with {first.run}: {difference}; train both "
                f"on one store"
            )


def ensemble_thresholds(predictors: Sequence[Predictor]) -> tuple[float, ...] | None:
    """Return the thresholds of the mean probabilities: the mean of the runs' own.

    None, for the likeliest class, if that is the rule of one of them.
    """
    found = [p.thresholds for p in predictors if p.thresholds is not None]
    if len(found) < len(predictors):
        return None
    return tuple(sum(values) / len(found) for values in zip(*found, strict=True))


def preparation_difference(one: DatasetFile, two: DatasetFile) -> str | None:
    """Return in what two stores differ that matters to a network, in words; None if in nothing.

    Settings of phantoms, which are nobody's preprocessing, may differ: seed and size.
    """
    for field, words in _SHARED.items():
        if field == "settings" and one.name not in DATASETS:
            continue
        mine, its = (_listed(_compared(facts, field)) for facts in (one, two))
        if mine != its:
            return f"their {words} differ, {_difference(mine, its)}"
    return None


def _compared(facts: DatasetFile, field: str) -> Any:
    """Return what is compared: of the settings those that make the image what it is."""
    value = getattr(facts, field)
    if field != "settings":
        return value
    kept = {name: v for name, v in value.items() if name not in _OF_LABELS}
    if kept.get("ending") == ".nii":  # the same file, packed or not
        kept["ending"] = ".nii.gz"
    return kept


def _listed(value: Any) -> Any:
    """Return a value as JSON gives it back: one of two stores may have come from a file."""
    if isinstance(value, Mapping):
        return {str(k): _listed(v) for k, v in value.items()}
    return [_listed(v) for v in value] if isinstance(value, list | tuple) else value


def _difference(one: Any, two: Any) -> str:
    if isinstance(one, dict) and isinstance(two, dict):
        key = next(k for k in {**one, **two} if one.get(k) != two.get(k))
        return f"{key} is {one.get(key)!r} against {two.get(key)!r}"
    return f"{one!r} against {two!r}"
