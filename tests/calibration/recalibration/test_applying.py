"""The contract of every method: shapes, types, order, range, and inputs that are refused."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gradsurge.calibration.recalibration import Bias, Platt, Temperature, fit_recalibration
from gradsurge.calibration.recalibration.blocks import BLOCK
from tests.calibration.recalibration.examples import EVERY, FITTED, example, outputs

BINARY = [method for method, kind in EVERY if kind == "binary"]


@pytest.mark.parametrize(("method", "kind"), EVERY)
def test_logits_and_their_probabilities_go_to_the_same_place(method, kind):
    found, (z, p) = example(method, kind), outputs(kind)
    from_logits, from_probabilities = found.apply_logits(z), found.apply_probabilities(p)
    assert from_logits.shape == z.shape
    np.testing.assert_allclose(from_logits, from_probabilities, atol=1e-6)
    assert np.abs(from_logits - p).max() > 0.01
    if kind == "multiclass":
        np.testing.assert_allclose(from_logits.sum(1), 1.0, rtol=1e-12)


@pytest.mark.parametrize(("method", "kind"), EVERY)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_type_and_dtype_stay(method, kind, dtype):
    found, (_, p) = example(method, kind), outputs(kind)
    p = p.astype(dtype)
    array, tensor = found.apply_probabilities(p), found.apply_probabilities(torch.from_numpy(p))
    assert isinstance(array, np.ndarray)
    assert array.dtype == dtype
    assert isinstance(tensor, torch.Tensor)
    np.testing.assert_array_equal(array, tensor.numpy())
    exact = found.apply_probabilities(p.astype(np.float64))
    np.testing.assert_allclose(array, exact, atol=2e-6 if dtype == np.float32 else 0)


def test_halves_are_computed_in_float32():
    found = example("temperature", "binary")
    p = torch.tensor([0.0, 0.25, 1.0], dtype=torch.float16)
    applied = found.apply_probabilities(p)
    assert applied.dtype == torch.float16
    torch.testing.assert_close(applied, found.apply_probabilities(p.float()).half())


@pytest.mark.parametrize(("method", "kind"), EVERY)
def test_the_channel_axis_may_be_anywhere(method, kind):
    found, (z, _) = example(method, kind), outputs(kind)
    if kind == "binary":
        z = np.stack((0.3 * z, z), axis=1)
    expected = found.apply_logits(z, channel_axis=1)
    for axis in (0, 2, -1):
        moved = np.moveaxis(z, 1, axis)
        result = found.apply_logits(moved, channel_axis=axis)
        np.testing.assert_allclose(np.moveaxis(result, axis, 1), expected, rtol=1e-13)


@pytest.mark.parametrize("method", BINARY)
def test_binary_maps_have_the_foreground_alone_or_after_the_background(method):
    found, (z, p) = example(method, "binary"), outputs("binary")
    alone = found.apply_probabilities(p)
    np.testing.assert_array_equal(
        found.apply_probabilities(p[:, None], channel_axis=1)[:, 0], alone
    )
    both = found.apply_probabilities(np.stack((1 - p, p)), channel_axis=0)
    np.testing.assert_array_equal(both[1], alone)
    np.testing.assert_allclose(both.sum(0), 1.0)
    pair = found.apply_logits(np.stack((z * 0 + 1, z + 1)), channel_axis=0)
    np.testing.assert_allclose(pair[1], found.apply_logits(z), rtol=1e-9)


@pytest.mark.parametrize(("method", "kind"), EVERY)
def test_blocks_leave_no_seams(method, kind):
    found = example(method, kind)
    channels = 1 if kind == "binary" else found.classes
    z = torch.randn(2, channels, BLOCK + 7, generator=torch.Generator().manual_seed(0)) * 4
    picked = [0, BLOCK - 1, BLOCK, BLOCK + 6]
    whole = found.apply_logits(z, channel_axis=1)
    torch.testing.assert_close(whole[..., picked], found.apply_logits(z[..., picked], 1))


@settings(max_examples=40, deadline=None)
@given(
    method=st.sampled_from(BINARY),
    values=st.lists(st.floats(0, 1, width=32), min_size=2, max_size=60),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_the_ranking_is_kept_and_the_range_too(method, values, dtype):
    p = np.sort(np.array(values, dtype))
    applied = example(method, "binary").apply_probabilities(p)
    assert applied.min() >= 0.0
    assert applied.max() <= 1.0
    # Vector exponentials may be off by a unit in the last place, which is no change of ranking.
    assert (np.diff(applied) >= -4 * np.finfo(dtype).eps * applied[1:]).all()


@settings(max_examples=40, deadline=None)
@given(values=st.lists(st.floats(-80, 80, width=32), min_size=3, max_size=60))
def test_multiclass_results_are_distributions_and_temperature_keeps_the_winner(values):
    z = np.array(values[: len(values) // 3 * 3], np.float32).reshape(1, 3, -1)
    for method, kind in EVERY:
        if kind == "multiclass":
            p = example(method, kind).apply_logits(z)
            assert p.min() >= 0.0
            np.testing.assert_allclose(p.sum(1), 1.0, rtol=1e-5)
    p = example("temperature", "multiclass").apply_logits(z)
    winner = np.take_along_axis(p, z.argmax(1, keepdims=True), axis=1)
    np.testing.assert_allclose(winner[:, 0], p.max(1), rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_neutral_parameters_change_nothing(dtype):
    facts = {"kind": "binary", "classes": 2, "limits": (16.63553,)}
    neutral = (
        Temperature(temperatures=(1.0,), **facts),
        Platt(scales=(1.0,), biases=(0.0,), **facts),
        Bias(biases=(0.0,), **facts),
    )
    p = np.concatenate(([0.0, 1e-9], np.linspace(1e-6, 1 - 1e-6, 999), [1.0])).astype(dtype)
    for found in neutral:
        np.testing.assert_allclose(found.apply_probabilities(p), p, rtol=3e-6, atol=2.0**-23)


def test_certainty_is_softened_like_its_neighbours():
    """Probabilities of exactly 0 and 1 are roundings: a temperature must reach them."""
    halved = Temperature(kind="binary", classes=2, temperatures=(2.0,), limits=(16.63553,))
    found = halved.apply_probabilities(np.array([0.0, 2.0**-24, 1.0], np.float32))
    np.testing.assert_allclose(found, [2.0**-12, 2.0**-12, 1 - 2.0**-12], rtol=1e-3)


@pytest.mark.parametrize(("method", "kind"), EVERY)
def test_what_is_no_map_is_refused(method, kind):
    found, (z, p) = example(method, kind), outputs(kind)
    with pytest.raises(ValueError, match=r"probabilities: expected numbers in \[0, 1\].*apply_log"):
        found.apply_probabilities(p + 0.5)
    with pytest.raises(ValueError, match=r"probabilities: expected numbers in \[0, 1\]"):
        found.apply_probabilities(p * np.nan)
    with pytest.raises(ValueError, match="logits: expected finite numbers"):
        found.apply_logits(np.full_like(z, np.inf))
    with pytest.raises(TypeError, match="logits: expected floating point"):
        found.apply_logits(np.ones(z.shape, np.int64))
    with pytest.raises(ValueError, match=f"a {kind} recalibration expected .* axis 9, got shape"):
        found.apply_logits(z, channel_axis=9)
    with pytest.raises(ValueError, match=r"channels on axis 0, got shape \(7, 5\); channel_axis"):
        found.apply_logits(np.zeros((7, 5)), channel_axis=0)


@pytest.mark.parametrize("method", FITTED)
def test_classes_that_do_not_sum_to_one_are_refused(method):
    with pytest.raises(ValueError, match="expected classes that sum to 1"):
        example(method, "multiclass").apply_probabilities(np.full((1, 3, 4), 0.5))


@pytest.mark.parametrize(("method", "kind"), EVERY)
def test_an_empty_map_stays_empty(method, kind):
    found = example(method, kind)
    shape = (0,) if kind == "binary" else (1, found.classes, 0)
    assert found.apply_logits(np.zeros(shape)).shape == shape


def test_inputs_are_not_written_to():
    for method, kind in EVERY:
        _, p = outputs(kind)
        before = p.copy()
        example(method, kind).apply_probabilities(p)
        np.testing.assert_array_equal(p, before)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_parameters_are_finite(value):
    for kind, name in ((Bias, "biases"), (Temperature, "temperatures")):
        with pytest.raises(ValueError, match=rf"{name}: expected .*, got \({value},\)"):
            kind(kind="binary", classes=2, limits=(16.6,), **{name: (value,)})
    with pytest.raises(ValueError, match=r"scales: expected .*, got"):
        Platt(kind="binary", classes=2, limits=(16.6,), scales=(value,), biases=(0.0,))


@pytest.mark.parametrize("values", [[0.5], 0.5, None])
def test_what_is_no_array_is_named(values):
    found = example("bias", "binary")
    for name in ("logits", "probabilities"):
        with pytest.raises(TypeError, match=rf"{name}: expected an array or a tensor, got "):
            getattr(found, f"apply_{name}")(values)


@pytest.mark.parametrize("method", ["temperature", "platt", "bias", "isotonic"])
def test_what_is_no_sketch_is_named(method):
    with pytest.raises(TypeError, match="sketch: expected a CalibrationSketch, got NoneType"):
        fit_recalibration(method, None)


def test_a_method_is_a_name():
    with pytest.raises(ValueError, match=r"method: expected one of temperature, .*, got \[\]"):
        fit_recalibration([], None)
