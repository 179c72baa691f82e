"""Primus: the published network, its sizes, and that it learns."""

import math

import pytest
import torch
import torch.nn.functional as F

from gradsurge.models import Primus, make_model, plan_model, round_patch
from gradsurge.models.primus.block import Attention, Block
from gradsurge.models.primus.rotary import rotary_angles

PATCH = (16, 16, 16)
TINY = {"token": (8, 8, 8), "width": 36, "layers": 2, "heads": 2}

# Parameters of PrimusS, B, M, L in dynamic-network-architectures 0.4.4 with the arguments of
# nnU-Net's trainers, one channel in, two out, 8³ tokens on 96³. The paper: 24, 93, 147, 325 M.
PUBLISHED = {
    "primus-s": 23_868_062,
    "primus-b": 93_206_570,
    "primus-m": 146_602_394,
    "primus-l": 325_554_722,
}


def tiny(seed=0, **options):
    torch.manual_seed(seed)
    return Primus(1, 2, PATCH, **{**TINY, **options})


def image(n=2, channels=1, patch=PATCH, seed=1):
    return torch.randn(n, channels, *patch, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize(("name", "count"), PUBLISHED.items())
def test_as_many_parameters_as_published(name, count):
    with torch.device("meta"):
        net = make_model(plan_model(name, 1, 2, (96, 96, 96)))
    assert sum(p.numel() for p in net.parameters()) == count


def test_equals_the_published_network():
    """Logits of dynamic-network-architectures 0.4.4's Primus with these very weights."""
    patch = (8, 16, 24)
    net = Primus(2, 3, patch, token=(4, 8, 8), width=36, layers=1, heads=2).eval()
    with torch.no_grad():
        for i, p in enumerate(net.parameters()):
            wave = torch.sin(torch.arange(p.numel(), dtype=torch.float64) * (1.3 + 0.1 * i) + i)
            p.copy_((wave * (1.0 if p.ndim == 1 else 0.3)).reshape(p.shape))
        count = torch.arange(2 * math.prod(patch), dtype=torch.float64)
        logits = net(torch.sin(count**1.1).float().reshape(1, 2, *patch))
    corner = torch.tensor([-0.1662248969, -0.4408910573, -0.2872933447])
    inside = torch.tensor([-0.5046572685, -0.2678542733, 0.0753127411])
    torch.testing.assert_close(logits[0, :, 0, 0, 0], corner, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(logits[0, :, -1, -2, 3], inside, rtol=1e-4, atol=1e-5)
    assert logits.std().item() == pytest.approx(0.6522, abs=1e-4)


def test_attention_equals_softmax_written_out():
    torch.manual_seed(0)
    attention = Attention(36, 2).double()
    x = torch.randn(2, 8, 36, dtype=torch.float64)
    angles = rotary_angles((2, 2, 2), 18).double()
    q, k, v = attention.query(x), attention.key(x), attention.value(x)
    heads = []
    for part in (slice(0, 18), slice(18, 36)):
        z = [torch.view_as_complex(t[..., part].unflatten(-1, (9, 2)).contiguous()) for t in (q, k)]
        turn = torch.polar(torch.ones_like(angles), angles)
        a, b = (torch.view_as_real(t * turn).flatten(-2) for t in z)
        weights = torch.exp(a @ b.mT / math.sqrt(18))
        heads.append(weights / weights.sum(-1, keepdim=True) @ v[..., part])
    expected = attention.out(attention.norm(torch.cat(heads, -1)))
    torch.testing.assert_close(attention(x, angles.cos(), angles.sin()), expected)


@pytest.mark.parametrize(
    ("token", "patch"),
    [((8, 8, 8), (16, 24, 32)), ((4, 4, 4), (8, 12, 16)), ((2, 4, 8), (4, 8, 16))],
)
def test_shapes(token, patch):
    net = Primus(3, 5, patch, **{**TINY, "token": token})
    assert net(image(2, 3, patch)).shape == (2, 5, *patch)
    assert (net.levels, net.divisor) == (1, token)


def test_other_windows_are_taken():
    net = tiny().eval()
    assert net(image(1, patch=(24, 8, 32))).shape == (1, 2, 24, 8, 32)
    with pytest.raises(ValueError, match=r"divisible by \(8, 8, 8\), got \(1, 1, 20, 16, 16\)"):
        net(image(1, patch=(20, 16, 16)))


def test_places_are_interpolated_for_other_windows():
    net = tiny()
    with torch.no_grad():
        net.places.fill_(0.7)
    torch.testing.assert_close(net._places_on((3, 1, 4)), torch.full((1, 36, 3, 1, 4), 0.7))
    assert net._places_on((2, 2, 2)) is net.places


def test_attention_sees_the_whole_window():
    """A voxel of one corner changes the logits at the other."""
    net = tiny(drop_path=0.0)
    x = image(1)
    moved = x.clone()
    moved[..., 0, 0, 0] += 5
    assert (net(x) - net(moved))[..., -1, -1, -1].abs().max() > 1e-5


def test_training_and_evaluation_differ_by_the_dropped_paths_alone():
    x = image()
    for rate, same in ((0.0, True), (0.5, False)):
        net = tiny(drop_path=rate)
        torch.manual_seed(0)
        assert torch.equal(net.train()(x), net.eval()(x)) is same
    net = tiny(drop_path=0.5).train()
    for block in net.blocks:
        block.drop_path = 0.0
    assert torch.equal(net(x), net.eval()(x))


def test_paths_are_dropped_by_sample_and_kept_on_average():
    torch.manual_seed(0)
    block = Block(36, 2, drop_path=0.25, layer_scale=0.1)
    ones = torch.ones(4000, 3, 36)
    kept = block._dropped(ones)
    assert kept.unique().tolist() == pytest.approx([0.0, 1 / 0.75])
    assert torch.equal(kept, kept[:, :1, :1].expand_as(kept))
    assert kept.mean().item() == pytest.approx(1.0, abs=0.03)


def test_paths_are_dropped_more_often_with_depth():
    rates = [block.drop_path for block in tiny(layers=5, drop_path=0.2).blocks]
    assert rates == pytest.approx([0.0, 0.05, 0.1, 0.15, 0.2])
    assert [block.drop_path for block in tiny(layers=1).blocks] == [0.0]


def test_seeds_decide_the_weights():
    one, two, other = tiny(3), tiny(3), tiny(4)
    same = zip(one.parameters(), two.parameters(), strict=True)
    assert all(torch.equal(a, b) for a, b in same)
    assert not torch.equal(one.embedding.weight, other.embedding.weight)


def test_it_learns():
    """Two balls in noise, each at its own place, learnt by heart down to the voxel."""
    net = tiny(drop_path=0.0)
    axis = torch.arange(16.0)
    z, y, x = torch.meshgrid(axis, axis, axis, indexing="ij")
    balls = [(z - c) ** 2 + (y - 8) ** 2 + (x - 15 + c) ** 2 < 20 for c in (5, 9)]
    target = torch.stack(balls).long()
    noisy = target[:, None] + image()
    optimiser = torch.optim.AdamW(net.parameters(), lr=3e-3, betas=(0.9, 0.98))
    losses = []
    for _ in range(150):
        optimiser.zero_grad()
        loss = F.cross_entropy(net(noisy), target)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < 0.1 * losses[0]
    found = net(noisy).argmax(1)
    dice = 2 * (found * target).sum() / (found + target).sum()
    assert dice > 0.9


@pytest.mark.parametrize(
    ("patch", "options", "message"),
    [
        ((32, 32), {}, r"patch: Primus is 3D only, got \(32, 32\); use residual-unet"),
        ((32, 36, 32), {}, r"patch: \(32, 36, 32\) is not divisible .* use \(32, 40, 32\)"),
        ((32, 32, 32), {"token": 6}, r"token: expected a power of two .* got 6"),
        ((32, 32, 32), {"token": 1}, r"token: .* got 1"),
        ((32, 32, 32), {"token": (8, 8)}, r"token: .* got \(8, 8\)"),
        ((32, 32, 32), {"heads": 5}, r"heads: .* divisible by 6, .* width 396 and 5 heads"),
        ((32, 32, 32), {"layers": 0}, r"layers: expected a whole number >= 1, got 0"),
        ((32, 32, 32), {"drop_path": 1.0}, r"drop_path: expected a number from 0 .* got 1\.0"),
        ((32, 32, 32), {"layer_scale": 0}, r"layer_scale: expected a finite number above 0, got 0"),
    ],
)
def test_bad_plans(patch, options, message):
    with pytest.raises(ValueError, match=message) as caught:
        plan_model("primus-s", 1, 2, patch, **options)
    assert "\n" not in str(caught.value)


def test_patches_are_rounded_to_tokens():
    assert round_patch("primus-s", (35, 51, 35)) == (40, 56, 40)
    assert round_patch("primus-s", (35, 51, 35), token=4) == (36, 52, 36)
