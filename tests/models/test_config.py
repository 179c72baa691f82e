"""Configurations as JSON, and what is refused."""

import json

import pytest

from gradsurge.models import ModelConfig, plan_model


def test_the_way_through_a_file_changes_nothing():
    for config in (
        plan_model("residual-unet", 1, 3, (20, 320, 256), (3.6, 0.6, 0.6), features=16),
        plan_model("primus-s", 1, 3, (32, 32, 32), token=(4, 8, 8)),
    ):
        stored = config.to_json()
        assert ModelConfig.from_json(json.loads(json.dumps(stored))) == config
        assert json.loads(json.dumps(stored)) == stored


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": 3}, r"name: expected a model's name, got 3"),
        ({"in_channels": 0}, r"in_channels: expected a whole number >= 1, got 0"),
        ({"out_channels": 2.0}, r"out_channels: .* got 2\.0"),
        ({"patch": [32]}, r"patch: expected 2 or 3 whole numbers above 0, got \[32\]"),
        ({"patch": "32"}, r"patch: .* got '32'"),
        ({"patch": [32, True]}, r"patch: .* got \[32, True\]"),
        ({"options": [1]}, r"options: expected names and values, got \[1\]"),
        ({"colour": "red"}, r"model: expected the entries name, .*'colour'"),
    ],
)
def test_bad_files(change, message):
    stored = plan_model("residual-unet", 1, 2, (32, 32)).to_json() | change
    with pytest.raises(ValueError, match=message) as caught:
        ModelConfig.from_json(stored)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("stored", [None, [], {}, {"name": "primus-s"}])
def test_other_files(stored):
    with pytest.raises(ValueError, match="model: expected the entries name, in_channels"):
        ModelConfig.from_json(stored)
