"""What a network is asked to tell, from what a store says of its labels."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from gradsurge.experiments.runs.task import UNKNOWN, task_of
from tests.experiments.runs.stores import disc_store


@pytest.fixture(scope="module")
def facts(tmp_path_factory):
    return disc_store(tmp_path_factory.mktemp("task")).dataset


def told(facts, **changes):
    return task_of(replace(facts, **changes))


def test_one_class_is_binary_with_two_outputs(facts):
    task = told(facts)
    assert (task.kind, task.activation, task.channels, task.names) == (
        "binary",
        "softmax",
        2,
        ("disc",),
    )
    assert task.ignore_index is None


def test_three_classes(facts):
    task = told(facts, label_names={0: "background", 1: "a", 2: "b"})
    assert (task.kind, task.classes, task.channels) == ("multiclass", 3, 3)
    label = torch.tensor([[0, 1, 2]])
    assert task.target(label) is label
    assert task.foreground(label[0]).tolist() == [[False, True, False], [False, False, True]]


def test_a_class_without_a_name_has_an_output(facts):
    assert told(facts, label_names={0: "background", 2: "b"}).names == ("class 1", "b")


def test_regions_overlap_and_unknown_voxels_are_marked_in_each(facts):
    task = told(facts, label_sets={"whole": [1, 2], "core": [2]}, ignore_label=3)
    assert (task.kind, task.activation, task.channels) == ("multilabel", "sigmoid", 2)
    target = task.target(torch.tensor([[0, 1, 2, 3]]))
    assert target.tolist() == [[[0, 1, 1, UNKNOWN], [0, 0, 1, UNKNOWN]]]
    assert task.ignore_index == UNKNOWN
    assert task.sketch_labels(torch.tensor([0, 1, 2, 3])).tolist() == [[[0, 1, 1, 0], [0, 0, 1, 0]]]
    assert task.known(torch.tensor([0, 3])).tolist() == [True, False]


def test_one_region_is_binary_with_one_output(facts):
    task = told(facts, label_sets={"whole": [1, 2]})
    assert (task.kind, task.channels, task.classes) == ("binary", 1, 2)
    logits, label = torch.tensor([[-1.0, 2.0]]), torch.tensor([0, 2])
    sketch = task.empty_sketch().update_logits(logits[None], task.sketch_labels(label))
    p = 1 / (1 + np.exp(-np.array([-1.0, 2.0])))
    assert sketch.nll() == pytest.approx(-(np.log(1 - p[0]) + np.log(p[1])) / 2)


def test_labels_without_foreground_are_refused(facts):
    with pytest.raises(ValueError, match="no foreground"):
        told(facts, label_names={0: "background"})


def test_probabilities_are_those_of_scipy(facts):
    from scipy.special import expit, softmax

    logits = torch.randn(2, 5, dtype=torch.float64)
    assert np.allclose(told(facts).probabilities(logits), softmax(logits.numpy(), axis=0))
    regions = told(facts, label_sets={"whole": [1, 2], "core": [2]})
    assert np.allclose(regions.probabilities(logits), expit(logits.numpy()))
