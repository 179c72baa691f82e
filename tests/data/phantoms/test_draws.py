"""Random numbers: their bits are PCG64's, their distributions SciPy's."""

from hashlib import sha256

import numpy as np
import pytest
from numpy.random import PCG64, SeedSequence
from scipy import stats

from gradsurge.data.phantoms.draws import Draws


def test_numbers_are_the_upper_52_bits_in_the_middle_of_their_interval():
    entropy = int.from_bytes(sha256(repr(("a", 3)).encode()).digest(), "little")
    raw = PCG64(SeedSequence(entropy)).random_raw(6).tolist()
    expected = [(2 * (word // 4096) + 1) / 2**53 for word in raw]
    assert Draws("a", 3).numbers(2, 3).ravel().tolist() == expected
    draws = Draws("a", 3)
    assert [draws.number() for _ in range(6)] == expected


def test_the_extreme_bits_give_neither_0_nor_1():
    class Extreme:
        def random_raw(self, count):
            return np.array([0, 2**64 - 1], np.uint64)

    draws = Draws("a")
    draws._bits = Extreme()
    low, high = draws.numbers(2)
    assert 0 < low < high < 1
    assert np.isfinite(draws.normals(2)).all()


@pytest.mark.parametrize(
    ("method", "arguments", "distribution"),
    [
        ("numbers", (), stats.uniform),
        ("normals", (), stats.norm),
        ("between", (2, 5), stats.uniform(2, 3)),
        ("log_between", (0.1, 10), stats.loguniform(0.1, 10)),
    ],
)
def test_distributions(method, arguments, distribution):
    draws = Draws("distribution", method)
    if arguments:
        values = [getattr(draws, method)(*arguments) for _ in range(4000)]
    else:
        values = getattr(draws, method)(4000)
    assert stats.kstest(values, distribution.cdf).pvalue > 0.01


def test_whole_numbers_and_signs_are_equally_likely_and_include_both_ends():
    draws = Draws("whole")
    values, counts = np.unique([draws.whole(-1, 3) for _ in range(5000)], return_counts=True)
    assert values.tolist() == [-1, 0, 1, 2, 3]
    assert stats.chisquare(counts).pvalue > 0.01
    values, counts = np.unique([draws.sign() for _ in range(2000)], return_counts=True)
    assert values.tolist() == [-1.0, 1.0]
    assert stats.chisquare(counts).pvalue > 0.01


def test_other_keys_give_independent_streams():
    keys = [("a", 1, 2), ("a", 12), ("a", 1, 3), ("b", 1, 2), ("a", (1, 2)), ("a1", 2), ("a", "1")]
    noise = np.array([Draws(*key).normals(4000) for key in keys])
    others = np.corrcoef(noise)[np.triu_indices(len(keys), 1)]
    assert np.abs(others).max() < 4 / np.sqrt(4000)
