"""From class numbers and channels to the structures that are scored."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gradsurge.data.case_error import CaseError
from gradsurge.data.label_sets import LabelSet
from gradsurge.data.layout import empty_channels


def binarise(labels: NDArray[Any], values: Sequence[int]) -> NDArray[np.bool_]:
    """Return where the labels are one of the values: one pass a value, in the labels' layout.

    >>> binarise(np.array([0, 1, 2, 3]), (1, 2)).tolist()
    [False, True, True, False]
    """
    if not values:
        raise ValueError("values: expected at least one class number, got none")
    inside: NDArray[np.bool_] = labels == values[0]
    for value in values[1:]:
        inside |= labels == value
    return inside


def regions_from_channels(probabilities: NDArray[Any], sets: Sequence[LabelSet]) -> NDArray[Any]:
    """Return the probability of each label set: (C, *S) exclusive classes -> (K, *S).

    Channel c is class c, so the probability of a set is the sum of its channels. A prediction of
    one or two channels and one set of foreground classes is a binary model of just that set: its
    last channel is the answer. For channels that may overlap see `regions_per_channel`.

    >>> p = np.array([[0.5], [0.3], [0.2]])
    >>> regions_from_channels(p, [LabelSet("kidney+tumour", (1, 2))])
    array([[0.5]])

    Raises:
        CaseError: a set has classes the prediction has no channel for.
    """
    channels = len(probabilities)
    if len(sets) == 1 and channels <= 2 and 0 not in sets[0].values:
        return probabilities[-1:]
    for group in sets:
        if channels == 1 or max(group.values) >= channels:
            raise CaseError(_no_channel(group, channels))
    if len(sets) == len(sets[0].values) == 1:
        value = sets[0].values[0]
        return probabilities[value : value + 1]
    regions = empty_channels(len(sets), probabilities[0])
    for index, group in enumerate(sets):
        regions[index] = probabilities[group.values[0]]
        for value in group.values[1:]:
            regions[index] += probabilities[value]
        if len(group.values) > 1:  # rounding may carry a sum above 1
            np.minimum(regions[index], 1.0, out=regions[index])
    return regions


def logits_of_sets(logits: NDArray[Any], sets: Sequence[LabelSet]) -> NDArray[np.float64]:
    """Return the log-odds of each label set: (C, *S) logits of exclusive classes -> (K, *S).

    The odds of a set are the sum of exp(z) of its classes over that of the others: nothing
    saturates. One channel is the logit of class 1 against class 0.

    >>> logits_of_sets(np.array([[0.0], [1.0], [50.0]]), [LabelSet("both", (1, 2))])
    array([[50.]])

    Raises:
        CaseError: a set has classes the prediction has no channel for, or all of them.
    """
    z = np.concatenate((np.zeros_like(logits), logits)) if len(logits) == 1 else logits
    for group in sets:
        if max(group.values) >= len(z):
            raise CaseError(_no_channel(group, len(logits)))
        if len(group.values) == len(z):
            raise CaseError(f"label set {group} holds all classes: there is nothing else to tell")
    found = [_log_odds(z, group) for group in sets]
    return np.stack(found)


def _log_odds(z: NDArray[Any], group: LabelSet) -> NDArray[np.float64]:
    from scipy.special import logsumexp

    inside = np.isin(np.arange(len(z)), group.values)
    wide = z.astype(np.float64)
    odds: NDArray[np.float64] = logsumexp(wide[inside], axis=0) - logsumexp(wide[~inside], axis=0)
    return odds


def regions_per_channel(probabilities: NDArray[Any], sets: Sequence[LabelSet]) -> NDArray[Any]:
    """Return (K, *S) of a prediction whose channels may overlap: channel k is the k-th set.

    Raises:
        CaseError: there are not as many channels as sets.
    """
    if len(probabilities) != len(sets):
        raise CaseError(
            f"the prediction has {_count(len(probabilities))} but {len(sets)} label sets were "
            f"given; overlapping channels need one --label each, in their order"
        )
    return probabilities


def check_class_labels(labels: NDArray[Any], channels: int) -> None:
    """Raise unless every label has a channel: 0 .. C - 1, or 0 and 1 if there is one channel.

    Raises:
        CaseError: with the labels found and what to say on the command line.
    """
    if int(labels.max()) < max(channels, 2):
        return
    found = np.unique(labels).tolist()
    foreground = ",".join(str(v) for v in found if v > 0)
    raise CaseError(
        f"labels hold {', '.join(map(str, found))} but the prediction has {_count(channels)}: "
        f"say what is foreground, e.g. --label foreground={foreground}"
    )


def _no_channel(group: LabelSet, channels: int) -> str:
    classes = "the foreground alone" if channels == 1 else f"classes 0 to {channels - 1}"
    return (
        f"label set {group} needs class {max(group.values)}, but the prediction has "
        f"{_count(channels)}: {classes}; a binary model is scored with a single set"
    )


def _count(channels: int) -> str:
    return "1 channel" if channels == 1 else f"{channels} channels"
