import json
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gradsurge.training import TrainSettings
from gradsurge.training.schedule import learning_rate


def test_json_round_trip():
    settings = TrainSettings(steps=9, optimiser="adamw", betas=(0.9, 0.98), clip=None, ema=0.999)
    assert TrainSettings.from_json(json.loads(json.dumps(settings.to_json()))) == settings


@pytest.mark.parametrize(
    "wrong",
    [
        {"steps": 0},
        {"steps": 2.0},
        {"steps": True},
        {"seed": -1},
        {"seed": 2**64},
        {"optimiser": "adam"},
        {"learning_rate": 0.0},
        {"learning_rate": math.nan},
        {"weight_decay": -1e-5},
        {"momentum": 1.0},
        {"betas": (0.9,)},
        {"betas": (0.9, 1.0)},
        {"warmup": 10},
        {"power": math.inf},
        {"clip": 0.0},
        {"accumulate": 0},
        {"precision": "16"},
        {"compile": 1},
        {"ema": 1.0},
        {"validate_every": 0},
        {"checkpoint_every": None},
    ],
)
def test_out_of_range_names_the_setting_and_what_came(wrong):
    ((name, value),) = wrong.items()
    with pytest.raises(ValueError, match=f"^{name}: expected") as caught:
        TrainSettings(**{"steps": 10, **wrong})
    shown = value[-1] if name == "betas" and len(value) == 2 else value
    assert repr(shown) in str(caught.value)


@pytest.mark.parametrize("change", [{"strange": 1}, {"steps": None}, {"betas": 3}])
def test_strange_json(change):
    stored = TrainSettings(steps=3).to_json() | change
    with pytest.raises(ValueError, match=next(iter(change))):
        TrainSettings.from_json(stored)


def test_missing_json():
    stored = TrainSettings(steps=3).to_json()
    del stored["ema"]
    with pytest.raises(ValueError, match="missing or unknown: ema"):
        TrainSettings.from_json(stored)


@given(st.integers(1, 40), st.floats(0.1, 3.0), st.floats(1e-5, 1.0))
def test_the_fall_is_that_of_torch(steps, power, rate):
    settings = TrainSettings(steps=steps, power=power, learning_rate=rate)
    optimiser = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=rate)
    polynomial = torch.optim.lr_scheduler.PolynomialLR(optimiser, steps, power)
    for step in range(steps):
        assert learning_rate(settings, step) == pytest.approx(optimiser.param_groups[0]["lr"])
        optimiser.step()
        polynomial.step()


@given(st.integers(2, 60), st.data())
def test_the_warm_up_rises_to_the_highest_and_never_stops(steps, data):
    warmup = data.draw(st.integers(1, steps - 1))
    settings = TrainSettings(steps=steps, warmup=warmup, learning_rate=2.0)
    rates = [learning_rate(settings, step) for step in range(steps)]
    assert rates[:warmup] == pytest.approx([2.0 * (i + 1) / warmup for i in range(warmup)])
    assert rates[warmup] == 2.0
    assert all(a > b > 0 for a, b in zip(rates[warmup:], rates[warmup + 1 :], strict=False))
