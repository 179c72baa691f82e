import numpy as np
import pytest
import torch
from torch import nn

from gradsurge.calibration.recalibration import Bias, Temperature
from gradsurge.data.case_error import CaseError
from gradsurge.experiments.prediction.probabilities import map_names, mean_probabilities
from gradsurge.experiments.prediction.settings import PredictSettings
from tests.experiments.prediction.fakes import (
    CPU,
    Pointwise,
    predictor,
    raw_tree,
    sigmoid,
    store_of,
)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("binary")
    return store_of(raw_tree(folder / "raw"), folder / "store")


@pytest.fixture(scope="module")
def three(tmp_path_factory):
    folder = tmp_path_factory.mktemp("three")
    labels = {"background": 0, "one": 1, "two": 2}
    return store_of(raw_tree(folder / "raw", labels), folder / "store")


IMAGE = np.random.default_rng(5).normal(size=(1, 9, 11, 7)).astype(np.float32)


def test_one_class_is_the_sigmoid_of_the_gap(store):
    found = mean_probabilities([predictor(store)], IMAGE, PredictSettings(), CPU)
    np.testing.assert_allclose(found.maps, sigmoid(2.0 * IMAGE), atol=1e-6)
    assert np.shares_memory(found.maps[0], found.raw[0])


def test_a_correction_changes_the_map_and_not_what_the_mask_is_made_of(store):
    bias = Bias(kind="binary", classes=2, biases=(-1.25,), limits=(16.6,))
    found = mean_probabilities([predictor(store, correction=bias)], IMAGE, PredictSettings(), CPU)
    np.testing.assert_allclose(found.maps, sigmoid(2.0 * IMAGE - 1.25), atol=1e-6)
    np.testing.assert_allclose(found.raw, sigmoid(2.0 * IMAGE), atol=1e-6)


def test_an_ensemble_is_the_mean_of_corrected_probabilities(store):
    bias = Bias(kind="binary", classes=2, biases=(0.7,), limits=(16.6,))
    members = [
        predictor(store, model=Pointwise(slope=1.0)),
        predictor(store, model=Pointwise(slope=3.0), correction=bias),
        predictor(store, model=Pointwise(slope=-2.0)),
    ]
    shares = []
    found = mean_probabilities(members, IMAGE, PredictSettings(), CPU, shares.append)
    expected = (sigmoid(IMAGE) + sigmoid(3 * IMAGE + 0.7) + sigmoid(-2 * IMAGE)) / 3
    raw = (sigmoid(IMAGE) + sigmoid(3 * IMAGE) + sigmoid(-2 * IMAGE)) / 3
    np.testing.assert_allclose(found.maps, expected, atol=1e-6)
    np.testing.assert_allclose(found.raw, raw, atol=1e-6)
    assert sum(shares) == pytest.approx(1.0)


def test_several_classes_keep_the_background_and_sum_to_1(three):
    cooler = Temperature(kind="multiclass", classes=3, temperatures=(2.0,), limits=())
    member = predictor(three, correction=cooler)
    found = mean_probabilities([member], IMAGE, PredictSettings(), CPU)
    z = np.concatenate([0 * IMAGE, 2 * IMAGE, -2 * IMAGE]) / 2
    expected = np.exp(z) / np.exp(z).sum(0)
    np.testing.assert_allclose(found.maps, expected, atol=1e-6)
    np.testing.assert_allclose(sum(found.maps), 1.0, atol=1e-6)
    assert map_names(member.task) == ["background", "one", "two"]
    assert [p.shape for p in found.raw] == [IMAGE.shape[1:]] * 2


def test_mirroring_asks_the_network_for_every_flip(store):
    seen = []

    class Counting(Pointwise):
        def forward(self, windows):
            seen.append(windows)
            return super().forward(windows)

    settings = PredictSettings(mirror=True)
    member = predictor(store, model=Counting(), window=(9, 11, 7))
    found = mean_probabilities([member], IMAGE, settings, CPU)
    assert len(seen) == 8
    np.testing.assert_allclose(found.maps, sigmoid(2.0 * IMAGE), atol=1e-6)


def test_a_network_that_returns_nan_is_named(store):
    class Broken(nn.Module):
        def forward(self, windows):
            return torch.cat((windows, windows * float("nan")), dim=1)

    with pytest.raises(CaseError, match="runs/one returns NaN"):
        mean_probabilities([predictor(store, model=Broken())], IMAGE, PredictSettings(), CPU)


@pytest.mark.parametrize(
    "options",
    [{"correction": "magic"}, {"overlap": 1.0}, {"batch": 0}, {"bits": 8}],
)
def test_bad_settings_are_named(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        PredictSettings(**options)
