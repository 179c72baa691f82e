"""Every model by name: one contract for all, so that a new one is tested by being listed."""

import io
import json

import pytest
import torch

from gradsurge.models import MODELS, ModelConfig, make_model, plan_model, round_patch

# Narrow versions, so that the contract of a 300-million-parameter net is tested in a moment.
NARROW = {
    "residual-unet": {"features": 4},
    **{name: {"width": 24, "layers": 2, "heads": 2} for name in MODELS if "primus" in name},
}
CASES = [(name, (16, 24, 16)) for name in MODELS] + [("residual-unet", (32, 48))]
every_model = pytest.mark.parametrize(("name", "patch"), CASES)


def plan(name, patch, in_channels=2, out_channels=3):
    return plan_model(name, in_channels, out_channels, patch, **NARROW[name])


def build(config, seed=0):
    torch.manual_seed(seed)
    return make_model(config)


def image(patch, channels=2):
    return torch.randn(2, channels, *patch, generator=torch.Generator().manual_seed(1))


def test_the_models_that_were_promised():
    assert MODELS == ("residual-unet", "primus-s", "primus-b", "primus-m", "primus-l")


@every_model
@pytest.mark.parametrize(("ins", "outs"), [(1, 1), (2, 3), (4, 2)])
def test_logits_on_the_grid_of_the_image(name, patch, ins, outs):
    net = build(plan(name, patch, ins, outs))
    x = image(patch, ins)
    before = x.clone()
    for mode in (True, False):
        logits = net.train(mode)(x)
        assert logits.shape == (2, outs, *patch)
        assert logits.dtype == torch.float32
        assert logits.is_contiguous()
        assert bool(logits.isfinite().all())
    assert torch.equal(x, before)
    assert net.levels == 1
    assert all(n % d == 0 for n, d in zip(patch, net.divisor, strict=True))


@every_model
def test_backward_reaches_every_parameter(name, patch):
    net = build(plan(name, patch)).eval()  # no path is dropped by chance
    weights = torch.randn(2, 3, *patch, generator=torch.Generator().manual_seed(2))
    (net(image(patch)) * weights).sum().backward()
    for key, parameter in net.named_parameters():
        assert parameter.grad is not None, key
        assert bool(parameter.grad.isfinite().all()), key
        assert parameter.grad.abs().sum() > 0, key


@every_model
def test_rebuilt_from_what_a_checkpoint_holds(name, patch):
    config = plan(name, patch)
    net = build(config)
    file = io.BytesIO()
    torch.save({"config": json.dumps(config.to_json()), "model": net.state_dict()}, file)
    file.seek(0)
    stored = torch.load(file, weights_only=True)
    again = build(ModelConfig.from_json(json.loads(stored["config"])), seed=9)
    again.load_state_dict(stored["model"])
    x = image(patch)
    assert torch.equal(again.eval()(x), net.eval()(x))


@every_model
def test_the_same_image_gives_the_same_logits_whatever_is_beside_it(name, patch):
    net = build(plan(name, patch)).eval()
    x = image(patch)
    torch.testing.assert_close(net(x)[:1], net(x[:1]), rtol=1e-4, atol=1e-5)


@every_model
def test_no_weight_is_kept_twice(name, patch):
    state = build(plan(name, patch)).state_dict()
    assert len({value.data_ptr() for value in state.values()}) == len(state)


@every_model
def test_wrong_images_are_refused_in_one_line(name, patch):
    net = build(plan(name, patch))
    for wrong in (
        image(patch, 3),
        image(patch)[0],
        image(patch)[..., :-1],
        image(patch)[..., :0],
        image((*patch, 8)),
    ):
        with pytest.raises(ValueError, match=r"image: expected \(N, 2, .* got \(") as caught:
            net(wrong)
        assert "\n" not in str(caught.value)


@every_model
def test_unknown_options_are_named_with_the_known_ones(name, patch):
    for call in (
        lambda: plan_model(name, 1, 2, patch, depht=3),
        lambda: round_patch(name, patch, depht=3),
    ):
        with pytest.raises(ValueError, match=rf"{name}: unknown option 'depht'; it takes \w+, \w+"):
            call()
    config = plan(name, patch)
    odd = ModelConfig(name, 2, 3, patch, {**config.options, "depht": 3})
    with pytest.raises(ValueError, match=rf"{name}: unknown option 'depht'; it takes"):
        make_model(odd)
    for option in config.options:
        rest = {k: v for k, v in config.options.items() if k != option}
        with pytest.raises(ValueError, match=f"option '{option}' is missing"):
            make_model(ModelConfig(name, 2, 3, patch, rest))


@every_model
def test_wrong_plans_are_refused_in_one_line(name, patch):
    for ins, outs, size, says in (
        (0, 2, patch, "in_channels: expected a whole number >= 1, got 0"),
        (1, None, patch, "out_channels: expected a whole number >= 1, got None"),
        (1, 2, (16,), r"patch: expected 2 or 3 whole numbers above 0, got \(16,\)"),
        (1, 2, (16, 16.5, 16), r"patch: .* got \(16, 16.5, 16\)"),
        (1, 2, (17, 24, 16), r"patch: \(17, 24, 16\) is not divisible .* use \((20|24), 24, 16\)"),
    ):
        with pytest.raises(ValueError, match=says) as caught:
            plan_model(name, ins, outs, size, **NARROW[name])
        assert "\n" not in str(caught.value)


@every_model
def test_rounded_patches_can_be_planned(name, patch):
    odd = tuple(n - 3 for n in patch)
    rounded = round_patch(name, odd, **NARROW[name])
    assert all(a <= b for a, b in zip(odd, rounded, strict=True))
    assert plan(name, rounded).patch == rounded


def test_unknown_names_come_with_a_suggestion():
    with pytest.raises(ValueError, match=r"unknown model 'primus-x'; did you mean 'primus-"):
        plan_model("primus-x", 1, 2, (32, 32, 32))
    with pytest.raises(ValueError, match=r"unknown model None; known: residual-unet, primus-s"):
        plan_model(None, 1, 2, (32, 32, 32))
    with pytest.raises(ValueError, match="unknown model 'vnet'"):
        make_model(ModelConfig("vnet", 1, 2, (32, 32), {}))


def test_damaged_plans_are_refused():
    config = plan("residual-unet", (32, 48))
    for option, value in (("strides", ((1,), (2,))), ("features", (4, 8)), ("kernels", ((3, 3),))):
        with pytest.raises(ValueError, match=f"{option}: expected"):
            make_model(ModelConfig(config.name, 2, 3, (32, 48), {**config.options, option: value}))
