"""Recalibrations as JSON: exact, readable, and refused in one line where something is wrong."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradsurge.calibration.recalibration import (
    Bias,
    Isotonic,
    Platt,
    load_recalibration,
    recalibration_file,
)
from tests.calibration.recalibration.examples import EVERY, example


@pytest.mark.parametrize(("method", "kind"), EVERY)
def test_every_method_comes_back_equal(tmp_path, method, kind):
    found = example(method, kind)
    found.save(tmp_path / "new" / "r.json")
    loaded = load_recalibration(tmp_path / "new" / "r.json")
    assert loaded == found
    assert [p.name for p in (tmp_path / "new").iterdir()] == ["r.json"]


@settings(max_examples=50, deadline=None)
@given(
    numbers=st.tuples(st.floats(1e-300, 1e300), st.floats(allow_nan=False, allow_infinity=False)),
    text=st.sampled_from(["", "ä 脳 😀", '"quoted" \\ back', "two\nlines", "</script>"]),
    voxels=st.integers(0, 10**18),
)
def test_numbers_and_words_come_back_to_the_last_bit(tmp_path_factory, numbers, text, voxels):
    file = tmp_path_factory.getbasetemp() / "r.json"
    found = Platt(
        kind="binary",
        classes=2,
        scales=numbers[:1],
        biases=numbers[1:],
        limits=(30.0,),
        floors=(-62.5,),
        fitted_on=text,
        voxels=voxels,
        at_bound=True,
        note=text,
    )
    found.save(file)
    assert load_recalibration(file) == found


def test_a_file_without_floors_has_the_limits_on_both_sides(tmp_path):
    example("temperature", "binary").save(tmp_path / "r.json")
    content = json.loads((tmp_path / "r.json").read_text())
    del content["parameters"]["floor"]
    content["parameters"]["limit"] = [16.6]
    (tmp_path / "r.json").write_text(json.dumps(content))
    assert load_recalibration(tmp_path / "r.json").spans == [(-16.6, 16.6)]


@pytest.mark.parametrize("floors", [(3.0,), (-3.0, -3.0), (float("nan"),)])
def test_floors_are_below_0_one_a_channel(floors):
    with pytest.raises(ValueError, match="floors: expected 1 negative"):
        Bias(kind="binary", classes=2, biases=(0.0,), limits=(9.0,), floors=floors)


def test_a_person_can_read_it(tmp_path):
    example("temperature", "binary").save(tmp_path / "r.json")
    content = json.loads((tmp_path / "r.json").read_text())
    assert list(content) == [
        "format", "version", "method", "kind", "classes", "fitted_on", "voxels", "at_bound", "note",
        "parameters",
    ]  # fmt: skip
    assert content["method"] == "temperature"
    assert content["fitted_on"] == "validation cases"
    assert content["voxels"] == 4000
    assert content["parameters"]["temperature"][0] > 1.0


CHANGES = [
    ({"format": "something"}, "expected an object with format"),
    ({"version": 2}, "version 2, this gradsurge reads 1"),
    ({"method": "magic"}, "method: expected one of temperature"),
    ({"kind": "trinary"}, "got 'trinary' of 2 classes"),
    ({"classes": 3}, "got 'binary' of 3 classes"),
    ({"classes": True}, "classes: expected int, got True"),
    ({"voxels": -1}, "got 2 and -1"),
    ({"voxels": "many"}, "voxels: expected int, got 'many'"),
    ({"note": 3}, "note: expected str, got 3"),
    ({"at_bound": 1}, "at_bound: expected bool, got 1"),
    ({"parameters": []}, r"parameters: expected dict, got \[\]"),
    ({"parameters": {}}, "scale: expected a list of finite numbers, got None"),
    ({"parameters": {"scale": [-1.0], "bias": [0], "limit": [9]}}, "scales: expected 1 positive"),
    ({"parameters": {"scale": [1], "bias": [], "limit": [9]}}, "biases: expected 1 numbers"),
    ({"parameters": {"scale": [1], "bias": [0], "limit": []}}, "limits: expected 1 positive"),
    ({"parameters": {"scale": ["1"], "bias": [0], "limit": [9]}}, "scale: expected a list"),
    ({"parameters": {"scale": [10**400], "bias": [0], "limit": [9]}}, "too large"),
    ({"parameters": {"scale": [float("nan")], "bias": [0], "limit": [9]}}, "NaN is no parameter"),
]


@pytest.mark.parametrize(("change", "message"), CHANGES)
def test_a_file_that_does_not_fit_is_named(tmp_path, change, message):
    file = tmp_path / "r.json"
    example("platt", "binary").save(file)
    file.write_text(json.dumps(json.loads(file.read_text()) | change))
    with pytest.raises(ValueError, match=message) as caught:
        load_recalibration(file)
    assert str(caught.value).startswith(f"{file}: not a recalibration that can be read (")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"\xff\xfe\x00", b'"text"', b"[" * 100_000, b"PK\x03\x04rubbish"],
)
def test_a_file_of_another_kind_is_named(tmp_path, content):
    file = tmp_path / "r.json"
    file.write_bytes(content)
    with pytest.raises(ValueError, match="not a recalibration that can be read") as caught:
        load_recalibration(file)
    assert str(file) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("method", "change", "message"),
    [
        ("isotonic", {"logits": [[1.0, 0.0]]}, "expected as many, rising"),
        ("isotonic", {"logits": 3}, "logits: expected a list of lists"),
        ("isotonic", {"logits": []}, "expected 1 lists each, got 0 and 1"),
        ("equilibrium", {"region": 3}, "region: expected a list of matrices"),
        ("equilibrium", {"region": [[[0, 1], [1]]]}, "region: expected rates"),
        ("equilibrium", {"region": [[[0, 1, 1]] * 3]}, "does not fit rates of shape"),
        ("equilibrium", {"decline": "fast"}, "decline: expected a number or null"),
        ("temperature", {"temperature": [1.0, 1.0]}, "temperatures: expected 1 positive"),
        ("bias", {"bias": [None]}, "bias: expected a list of finite numbers"),
    ],
)
def test_wrong_parameters_of_each_method_are_named(tmp_path, method, change, message):
    file = tmp_path / "r.json"
    example(method, "binary").save(file)
    content = json.loads(file.read_text())
    content["parameters"] |= change
    file.write_text(json.dumps(content))
    with pytest.raises(ValueError, match=message):
        load_recalibration(file)


def test_parameters_that_json_cannot_hold_are_not_written(tmp_path):
    with pytest.raises(ValueError, match="Out of range float"):
        recalibration_file.write(tmp_path / "r.json", "bias", {}, {"bias": [np.nan]})
    assert not list(tmp_path.iterdir())


def test_a_table_keeps_its_knots(tmp_path):
    found = example("isotonic", "multilabel")
    found.save(tmp_path / "r.json")
    loaded = load_recalibration(tmp_path / "r.json")
    assert isinstance(loaded, Isotonic)
    z = np.random.default_rng(0).normal(size=(1, 2, 500))
    np.testing.assert_array_equal(loaded.apply_logits(z), found.apply_logits(z))
