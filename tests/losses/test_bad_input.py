"""Bad labels and logits are named by every loss alike; a new loss is tested by its name."""

import pytest
import torch

from gradsurge import LOSSES, make_loss

BAD_INPUTS = [
    ({"target": torch.full((2, 4), 255)}, ValueError, "target: .*got 255"),
    ({"target": torch.full((2, 4), -1)}, ValueError, "target: .*got -1"),
    ({"target": torch.zeros(2, 5)}, ValueError, r"target: .*\(2, 5\)"),
    ({"target": [[0]]}, TypeError, "target: .*got list"),
    ({"logits": torch.full((2, 3, 4), torch.nan)}, ValueError, "logits: .*NaN, 24 times"),
    ({"logits": torch.zeros(2, 1, 4)}, ValueError, "logits: .*C >= 2"),
    ({"logits": torch.zeros(2, 3)}, ValueError, "logits: .*spatial"),
    ({"logits": torch.zeros(2, 3, 4, dtype=torch.int64)}, TypeError, "logits: .*floating"),
]


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize(("change", "error", "message"), BAD_INPUTS)
def test_bad_inputs_are_named(name, change, error, message):
    inputs = {"logits": torch.zeros(2, 3, 4), "target": torch.zeros(2, 4)} | change
    with pytest.raises(error, match=message):
        make_loss(name)(inputs["logits"], inputs["target"])


@pytest.mark.parametrize("name", [n for n in LOSSES if n != "ce"])
def test_three_soft_classes_are_for_cross_entropy_alone(name):
    with pytest.raises(ValueError, match=r"target: .*soft or overlapping"):
        make_loss(name)(torch.zeros(2, 3, 4), torch.full((2, 3, 4), 1 / 3))


@pytest.mark.parametrize("name", LOSSES)
def test_ignore_index_needs_class_indices(name):
    with pytest.raises(ValueError, match="ignore_index: needs class indices"):
        make_loss(name, ignore_index=255)(torch.zeros(1, 2, 3), torch.zeros(1, 2, 3))
