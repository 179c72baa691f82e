"""The residual U-Net: MONAI's DynUNet as oracle, outputs at all levels, sizes."""

import itertools

import pytest
import torch
from monai.networks.nets import DynUNet
from torch import nn

from gradsurge.losses import DeepSupervision, Dice
from gradsurge.models import make_model, plan_model


def net(patch, **options):
    torch.manual_seed(0)
    chosen = {"features": 4, **options}
    return make_model(plan_model("residual-unet", 2, 3, patch, **chosen))


def image(patch, seed=1):
    return torch.randn(2, 2, *patch, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("patch", [(32, 48), (16, 24, 16)])
def test_equals_monais_dynunet_with_the_same_weights(patch):
    ours = net(patch)
    levels, axes = len(ours.encoder), len(patch)
    theirs = DynUNet(
        axes, 2, 3, [3] * levels, [1] + [2] * (levels - 1), [2] * (levels - 1),
        filters=[4 * 2**i for i in range(levels)], res_block=True,
    )  # fmt: skip
    blocks = [theirs.input_block, *theirs.downsamples, theirs.bottleneck]
    for mine, block in zip(ours.encoder, blocks, strict=True):
        block.load_state_dict(mine[0].state_dict())
    for mine, block in zip(ours.decoder, reversed(theirs.upsamples), strict=True):
        block.load_state_dict(mine.state_dict())
    theirs.output_block.conv.conv.load_state_dict(ours.heads[0].state_dict())
    assert sum(p.numel() for p in ours.parameters()) == sum(p.numel() for p in theirs.parameters())
    # In float32 the two add up in another order, and differ by what the machine makes of it.
    x = image(patch).double()
    torch.testing.assert_close(ours.double()(x), theirs.double()(x), rtol=1e-9, atol=1e-9)


def test_features_double_up_to_the_cap():
    def features(patch, **options):
        return plan_model("residual-unet", 1, 2, patch, **options).options["features"]

    # nnU-Net's own, for the same patches.
    assert features((128, 128, 128)) == (32, 64, 128, 256, 320, 320)
    assert features((512, 512)) == (32, 64, 128, 256, 512, 512, 512, 512)
    assert features((40, 56, 40), features=16) == (16, 32, 64, 128)
    assert features((40, 56, 40), features=16, max_depth=3) == (16, 32, 64)
    assert features((40, 56, 40), cap=48) == (32, 48, 48, 48)
    assert features((40, 56, 40), features=(8, 9, 10, 11)) == (8, 9, 10, 11)


def test_blocks_of_the_encoder():
    small, large = net((16, 16)), net((16, 16), blocks=(1, 3, 2))
    assert [len(level) for level in small.encoder] == [1, 1, 1]
    assert [len(level) for level in large.encoder] == [1, 3, 2]
    assert large(image((16, 16))).shape == (2, 3, 16, 16)


@pytest.mark.parametrize(
    ("patch", "spacing", "grids"),
    [
        ((32, 48), None, [(32, 48), (16, 24), (8, 12)]),
        ((16, 24, 16), None, [(16, 24, 16), (8, 12, 8)]),
        ((8, 32, 32), (4.0, 1.0, 1.0), [(8, 32, 32), (8, 16, 16), (8, 8, 8)]),
    ],
)
def test_deep_supervision_gives_every_level_on_its_grid(patch, spacing, grids):
    deep = net(patch, spacing=spacing, deep_supervision=True)
    x = image(patch)
    outputs = deep.train()(x)
    assert deep.levels == len(grids)
    assert [tuple(z.shape) for z in outputs] == [(2, 3, *grid) for grid in grids]
    target = torch.randint(0, 3, (2, *patch))
    DeepSupervision(Dice(), deep.levels)(outputs, target).backward()
    assert all(bool(p.grad.abs().sum() > 0) for p in deep.parameters())
    alone = deep.eval()(x)
    torch.testing.assert_close(alone, outputs[0])


def test_other_windows_and_the_divisor():
    n = net((16, 24, 16)).eval()
    assert n.divisor == (4, 4, 4)
    assert n(image((20, 16, 28))).shape == (2, 3, 20, 16, 28)
    with pytest.raises(ValueError, match=r"divisible by \(4, 4, 4\), got \(2, 2, 18, 16, 28\)"):
        n(image((18, 16, 28)))


def test_anisotropic_kernels_do_not_mix_slices():
    """With kernels of 1 along the first axis and no halving there, slices stay apart until 3."""
    thin = make_model(plan_model("residual-unet", 1, 2, (8, 16, 16), (8.0, 1.0, 1.0), features=4))
    first = thin.encoder[0]
    assert first[0].conv1.conv.kernel_size == (1, 3, 3)
    x = torch.randn(1, 1, 8, 16, 16)
    moved = x.clone()
    moved[:, :, 3] += 1
    with torch.no_grad():
        change = (first[0].conv1(x) - first[0].conv1(moved)).abs().sum((0, 1, 3, 4))
    assert change[3] > 0
    assert change.sum() == change[3]


def test_norms_are_over_sample_and_channel():
    n = net((16, 16))
    norms = [m for m in n.modules() if isinstance(m, nn.GroupNorm)]
    x = image((8, 8))[:, :1].repeat(1, 4, 1, 1)
    assert norms
    for norm in norms[:1]:
        torch.testing.assert_close(norm(x), nn.functional.instance_norm(x))
    for norm in norms:
        assert norm.num_groups == norm.num_channels


@pytest.mark.parametrize("patch", [(32, 32), (16, 16, 16)])
def test_half_resolution_starts_at_the_first_halving(patch):
    full = net(patch, max_depth=3)
    half = net(patch, max_depth=3, resolution="half")
    assert half.divisor == full.divisor
    assert len(half.encoder) == len(full.encoder) - 1
    assert half(image(patch)).shape == (2, 3, *patch)
    seen = []
    hook = half.encoder[0].register_forward_hook(lambda _m, _i, out: seen.append(out.shape))
    half(image(patch))
    hook.remove()
    assert seen[0][2:] == tuple(n // 2 for n in patch)


def test_half_resolution_can_tell_neighbouring_voxels_apart():
    n = net((32, 32), max_depth=3, resolution="half", features=8).train()
    x = image((32, 32))
    target = (x[:, 0] > 0).long()  # of each voxel on its own
    optimiser = torch.optim.Adam(n.parameters(), lr=1e-2)
    for _ in range(150):
        optimiser.zero_grad()
        nn.functional.cross_entropy(n(x), target).backward()
        optimiser.step()
    assert (n(x).argmax(1) == target).float().mean() > 0.95


@pytest.mark.parametrize("patch", [(64, 64), (16, 16, 16)])
@pytest.mark.parametrize("channels", [1, 2])
def test_one_memory_layout_or_another_is_one_answer(patch, channels):
    """Few channels laid last made oneDNN corrupt the heap in 2D (its issue 6035)."""
    n = make_model(plan_model("residual-unet", channels, 3, patch, features=8, resolution="half"))
    x = image(patch)[:, :channels].contiguous()
    answers = []
    for given in (x, x.movedim(1, -1).contiguous().movedim(-1, 1), x.mT.contiguous().mT):
        n.zero_grad()
        z = n(given)
        z.square().mean().backward()
        assert z.is_contiguous()
        answers.append([z.detach(), *(p.grad.clone() for p in n.parameters())])
    torch.testing.assert_close(answers[1], answers[0])
    torch.testing.assert_close(answers[2], answers[0])


def test_gradient_reaches_the_image():
    x = image((16, 16, 16)).requires_grad_()
    net((16, 16, 16))(x).square().mean().backward()
    assert x.grad.abs().min() > 0


@pytest.mark.parametrize(
    ("patch", "options", "message"),
    [
        ((40, 50, 30), {}, r"patch: \(40, 50, 30\) is not divisible .* use \(40, 56, 32\)"),
        ((6, 6), {}, r"patch: \(6, 6\) is too small .* at least 8"),
        ((12, 12), {"resolution": "half"}, r"patch: .* half resolution; .* at least 16"),
        ((32, 32), {"features": 0}, r"features: expected a whole number >= 1, got 0"),
        ((32, 32), {"features": True}, r"features: .* got True"),
        ((32, 32), {"features": (4, 8)}, r"features: .* each of 4 levels, got \(4, 8\)"),
        ((32, 32), {"features": "32"}, r"features: .* got '32'"),
        ((32, 32), {"cap": -1}, r"cap: .* got -1"),
        ((32, 32), {"max_depth": 1}, r"max_depth: expected a whole number >= 2, got 1"),
        ((32, 32), {"blocks": (1, 2)}, r"blocks: .* got \(1, 2\)"),
        ((32, 32), {"resolution": "third"}, r"resolution: expected 'full' or 'half', got 'third'"),
        ((32, 32), {"deep_supervision": 1}, r"deep_supervision: expected True or False, got 1"),
        ((32, 32), {"spacing": (1.0,)}, r"spacing: expected one number for each axis .* \(1.0,\)"),
        ((32, 32), {"spacing": (1.0, 0.0)}, r"spacing: expected a finite number above 0, got 0.0"),
    ],
)
def test_bad_plans(patch, options, message):
    with pytest.raises(ValueError, match=message) as caught:
        plan_model("residual-unet", 1, 2, patch, **options)
    assert "\n" not in str(caught.value)


def test_seeds_decide_the_weights():
    one, two = net((16, 16)), net((16, 16))
    pairs = itertools.zip_longest(one.parameters(), two.parameters())
    assert all(torch.equal(a, b) for a, b in pairs)
    torch.manual_seed(7)
    other = make_model(plan_model("residual-unet", 2, 3, (16, 16), features=4))
    assert not torch.equal(next(one.parameters()), next(other.parameters()))
