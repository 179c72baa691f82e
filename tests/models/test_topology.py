"""The levels of a U-Net: nnU-Net's own answers, and what holds for every patch."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradsurge.models.topology import plan_topology, round_up

ISO = (1.0, 1.0, 1.0)
THIN, FLAT, CUBE = (1, 2, 2), (1, 3, 3), (3, 3, 3)
ONE, TWO = (1, 1, 1), (2, 2, 2)

# What nnU-Net 2.8.1's get_pool_and_conv_props(spacing, patch, 4, 999999) returns.
NNUNET = [
    ((40, 56, 40), ISO, (ONE, TWO, TWO, TWO), (CUBE,) * 4),
    ((80, 96, 80), ISO, (ONE, TWO, TWO, TWO, TWO), (CUBE,) * 5),
    ((96, 96, 80), ISO, (ONE, TWO, TWO, TWO, TWO), (CUBE,) * 5),
    ((512, 512), (1.0, 1.0), ((1, 1), *[(2, 2)] * 7), ((3, 3),) * 8),
    (
        (20, 320, 256),
        (3.6, 0.6, 0.6),
        (ONE, THIN, THIN, TWO, TWO, THIN, THIN),
        (FLAT, FLAT, *[CUBE] * 5),
    ),
    (
        (64, 192, 192),
        (3.0, 0.8, 0.8),
        (ONE, THIN, TWO, TWO, TWO, TWO),
        (FLAT, *[CUBE] * 5),
    ),
    ((12, 96, 96), (2.0, 1.0, 1.0), (ONE, THIN, TWO, THIN, THIN), (FLAT, *[CUBE] * 4)),
    ((32, 32, 8), ISO, (ONE, TWO, (2, 2, 1), (2, 2, 1)), (CUBE,) * 4),
    ((40, 24), (1.0, 1.0), ((1, 1), (2, 2), (2, 2)), ((3, 3),) * 3),  # not 40 alone once more
    ((24, 24, 12), ISO, (ONE, TWO, (2, 2, 1)), (CUBE,) * 3),
    ((40, 50, 30), ISO, (ONE, TWO, TWO, TWO), (CUBE,) * 4),
]


@pytest.mark.parametrize(("patch", "spacing", "strides", "kernels"), NNUNET)
def test_as_nnunet_plans_it(patch, spacing, strides, kernels):
    topology = plan_topology(patch, spacing)
    assert topology.strides == strides
    assert topology.kernels == kernels


def test_as_nnunet_pads_it():
    assert round_up((40, 50, 30), plan_topology((40, 50, 30), ISO).divisor) == (40, 56, 32)
    assert plan_topology((20, 320, 256), (3.6, 0.6, 0.6)).divisor == (4, 64, 64)
    assert plan_topology((12, 96, 96), (2.0, 1.0, 1.0)).divisor == (2, 16, 16)


patches = st.lists(st.integers(1, 600), min_size=2, max_size=3)
spacings = st.lists(st.floats(0.1, 10.0), min_size=3, max_size=3)


@given(patches, spacings)
def test_every_patch_can_be_rounded_up_and_then_stays(patch, spacing):
    spacing = tuple(spacing[: len(patch)])
    topology = plan_topology(tuple(patch), spacing)
    whole = round_up(tuple(patch), topology.divisor)
    assert plan_topology(whole, spacing) == topology
    assert all(n <= w < n + d for n, w, d in zip(patch, whole, topology.divisor, strict=True))
    for n, w, d in zip(patch, whole, topology.divisor, strict=True):
        assert w % d == 0
        assert w // d >= min(4, n)  # so much is left at the bottom


@given(patches, spacings, st.integers(1, 8))
def test_a_smaller_depth_is_the_beginning_of_the_whole(patch, spacing, depth):
    spacing = tuple(spacing[: len(patch)])
    whole = plan_topology(tuple(patch), spacing)
    part = plan_topology(tuple(patch), spacing, depth)
    assert part.strides == whole.strides[:depth]
    assert part.kernels[:-1] == whole.kernels[: len(part.strides) - 1]


@given(patches, spacings, st.floats(0.25, 4.0))
def test_the_unit_of_the_spacing_does_not_matter(patch, spacing, unit):
    spacing = tuple(2.0 ** round(s) for s in spacing[: len(patch)])
    scaled = tuple(s * 2.0 ** round(unit) for s in spacing)
    assert plan_topology(tuple(patch), spacing) == plan_topology(tuple(patch), scaled)
