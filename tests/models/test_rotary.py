"""Rotary positions: turns that leave only offsets behind."""

import cmath

import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gradsurge.models.primus.rotary import rotary_angles, rotate

GRID = (4, 5, 6)
places = st.tuples(*(st.integers(0, 1) for _ in GRID))
shifts = st.tuples(*(st.integers(0, n - 2) for n in GRID))


def turned(x, grid=GRID):
    angles = rotary_angles(grid, x.shape[-1]).double()
    return rotate(x, angles.cos(), angles.sin())


def token_at(place):
    return (place[0] * GRID[1] + place[1]) * GRID[2] + place[2]


@settings(deadline=None)
@given(places, places, shifts, st.integers(0, 100))
def test_scores_depend_on_the_offset_alone(query, key, shift, seed):
    """A query and a key, both moved by the same way, score the same."""
    moved = [tuple(a + s for a, s in zip(p, shift, strict=True)) for p in (query, key)]
    q, k = torch.randn(2, 1, 12, dtype=torch.float64, generator=torch.manual_seed(seed))
    tokens = GRID[0] * GRID[1] * GRID[2]
    scores = turned(q.expand(tokens, -1)) @ turned(k.expand(tokens, -1)).T
    before = scores[token_at(query), token_at(key)]
    after = scores[token_at(moved[0]), token_at(moved[1])]
    torch.testing.assert_close(before, after, rtol=1e-5, atol=1e-5)


def test_scores_do_depend_on_the_offset_along_every_axis():
    q, k = torch.randn(2, 1, 12, dtype=torch.float64, generator=torch.manual_seed(0))
    scores = (turned(q.expand(120, -1)) @ turned(k.expand(120, -1)).T)[0]
    for place in ((1, 0, 0), (0, 1, 0), (0, 0, 1)):
        assert abs(scores[token_at(place)] - scores[0]) > 1e-3


def test_against_complex_numbers():
    x = torch.randn(120, 12, dtype=torch.float64, generator=torch.manual_seed(3))
    place, row = (2, 1, 5), token_at((2, 1, 5))
    expected = []
    for pair in range(6):
        axis, band = divmod(pair, 2)
        angle = place[axis] * 10_000 ** (-band / 2)
        z = complex(x[row, 2 * pair], x[row, 2 * pair + 1]) * cmath.exp(1j * angle)
        expected += [z.real, z.imag]
    torch.testing.assert_close(
        turned(x)[row], torch.tensor(expected).double(), rtol=1e-5, atol=1e-6
    )


def test_lengths_stay():
    x = torch.randn(3, 120, 12, dtype=torch.float64)
    torch.testing.assert_close(turned(x).norm(dim=-1), x.norm(dim=-1))


def test_positions_do_not_depend_on_the_size_of_the_grid():
    small = rotary_angles((2, 3, 2), 12).reshape(2, 3, 2, -1)
    large = rotary_angles((5, 4, 6), 12).reshape(5, 4, 6, -1)
    assert torch.equal(small, large[:2, :3, :2])


def test_the_type_of_queries_stays():
    angles = rotary_angles((2, 2, 2), 6)
    x = torch.randn(8, 6).bfloat16()
    assert rotate(x, angles.cos(), angles.sin()).dtype == torch.bfloat16
