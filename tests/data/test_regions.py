"""Label sets: parsing, binary labels, probabilities of sets."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradsurge.data import (
    CaseError,
    LabelSet,
    binarise,
    check_class_labels,
    parse_label_set,
    regions_from_channels,
    regions_per_channel,
)
from tests.data.files import classes, softmax


@pytest.mark.parametrize(
    ("text", "name", "values"),
    [
        ("tumour=2", "tumour", (2,)),
        ("kidney+tumour=1,2", "kidney+tumour", (1, 2)),
        (" whole tumour = 1, 3 ,2", "whole tumour", (1, 3, 2)),
        ("a=b=7", "a=b", (7,)),
        ("<b>=0", "<b>", (0,)),
    ],
)
def test_label_sets_are_parsed(text, name, values):
    assert parse_label_set(text) == LabelSet(name, values)
    assert parse_label_set(str(LabelSet(name, values))) == LabelSet(name, values)


@pytest.mark.parametrize(
    "text", ["", "2", "tumour", "=2", "tumour=", "tumour=1,", "t=-1", "t=1.5", "t=one", "t=1-3"]
)
def test_what_is_no_label_set(text):
    with pytest.raises(ValueError, match="label set: expected NAME=1 or NAME=1,2"):
        parse_label_set(text)


def test_classes_named_twice_and_odd_sets():
    with pytest.raises(ValueError, match="names a class twice"):
        parse_label_set("t=1,1")
    with pytest.raises(ValueError, match="values"):
        LabelSet("t", ())
    with pytest.raises(ValueError, match="values"):
        LabelSet("t", (-1,))
    with pytest.raises(ValueError, match="name"):
        LabelSet("two\nlines", (1,))


@settings(max_examples=50, deadline=None)
@given(st.sets(st.integers(0, 300), min_size=1, max_size=6), st.integers(0, 10_000))
def test_binarise_equals_isin(values, seed):
    labels = classes(256, (5, 6, 7), seed)
    for array in (labels, np.asfortranarray(labels), labels.astype(np.int64)):
        inside = binarise(array, sorted(values))
        np.testing.assert_array_equal(inside, np.isin(array, list(values)))
        assert inside.strides == array.astype(bool).strides


def test_binarise_needs_values():
    with pytest.raises(ValueError, match="values"):
        binarise(classes(), ())


def sets_of(channels):
    values = st.sets(st.integers(0, channels - 1), min_size=1).map(sorted).map(tuple)
    return st.lists(values, min_size=1, max_size=4)


@settings(max_examples=60, deadline=None)
@given(st.integers(3, 6).flatmap(lambda c: st.tuples(st.just(c), sets_of(c))), st.booleans())
def test_regions_are_sums_of_channels(drawn, fortran):
    channels, sets = drawn
    p = softmax(channels, (2, 3, 4), dtype=np.float64)
    if fortran:
        p = np.moveaxis(np.asfortranarray(np.moveaxis(p, 0, -1)), -1, 0)
    before = p.copy()
    regions = regions_from_channels(p, [LabelSet(str(v), v) for v in sets])
    assert regions.shape == (len(sets), 2, 3, 4)
    for k, voxel in itertools.product(range(len(sets)), np.ndindex(2, 3, 4)):
        expected = sum(p[(c, *voxel)] for c in sets[k])
        assert regions[(k, *voxel)] == pytest.approx(min(expected, 1.0), abs=1e-15)
    np.testing.assert_array_equal(p, before)
    assert regions.max() <= 1.0
    assert regions[0].flags.f_contiguous == fortran


def test_a_binary_model_answers_the_one_set():
    tumour = [LabelSet("tumour", (2, 3))]
    two, one = softmax(2), softmax(2)[1:]
    np.testing.assert_array_equal(regions_from_channels(two, tumour), two[1:])
    np.testing.assert_array_equal(regions_from_channels(one, tumour), one)
    background = [LabelSet("background", (0,))]
    np.testing.assert_array_equal(regions_from_channels(two, background), two[:1])


@pytest.mark.parametrize(
    ("channels", "sets", "message"),
    [
        (3, ["t=3"], r"t=3 needs class 3, but the prediction has 3 channels: classes 0 to 2"),
        (3, ["k=1", "kt=1,5"], r"kt=1,5 needs class 5"),
        (2, ["k=1", "t=2"], r"t=2 needs class 2, but the prediction has 2 channels"),
        (1, ["k=1", "t=2"], r"1 channel: the foreground alone; .*single set"),
        (1, ["b=0"], "1 channel"),
    ],
)
def test_classes_without_a_channel(channels, sets, message):
    with pytest.raises(CaseError, match=message):
        regions_from_channels(softmax(channels), [parse_label_set(s) for s in sets])


def test_overlapping_channels_are_the_sets_in_order():
    p = softmax(3)
    sets = [LabelSet("whole", (1, 2, 3)), LabelSet("core", (1, 3)), LabelSet("enhancing", (3,))]
    assert regions_per_channel(p, sets) is p
    with pytest.raises(CaseError, match="has 3 channels but 2 label sets"):
        regions_per_channel(p, sets[:2])


def test_labels_without_sets():
    check_class_labels(classes(3), 3)
    check_class_labels(classes(2), 2)
    check_class_labels(classes(2), 1)
    check_class_labels(classes(1), 1)
    with pytest.raises(CaseError) as caught:
        check_class_labels(classes(3), 1)
    assert str(caught.value) == (
        "labels hold 0, 1, 2 but the prediction has 1 channel: "
        "say what is foreground, e.g. --label foreground=1,2"
    )
    with pytest.raises(CaseError, match="hold 0, 1, 2, 3 but the prediction has 3 channels"):
        check_class_labels(classes(4), 3)
