"""Which case a patch comes from, and the generators of patches."""

import itertools
from collections import Counter

import numpy as np
from scipy import stats

from gradsurge.data.patches import PatchSettings
from gradsurge.data.patches.generators import case_index, sample_generator


def drawn(settings, cases, steps, seed=0, start=0):
    return [
        case_index(settings, cases, seed, step, k)
        for step in range(start, start + steps)
        for k in range(settings.batch)
    ]


def test_shuffled_takes_every_case_once_before_any_comes_again():
    found = drawn(PatchSettings((8, 8), batch=3), cases=7, steps=28)
    epochs = [found[i : i + 7] for i in range(0, len(found), 7)]
    assert all(sorted(epoch) == list(range(7)) for epoch in epochs)
    assert len({tuple(epoch) for epoch in epochs}) > 8, "epochs are shuffled anew"


def test_independent_draws_are_uniform_and_repeat():
    settings = PatchSettings((8, 8), batch=4, draw="independent")
    found = drawn(settings, cases=5, steps=1000)
    assert stats.chisquare(list(Counter(found).values())).pvalue > 1e-4
    pairs = Counter(itertools.pairwise(found))
    assert all((case, case) in pairs for case in range(5))


def test_patches_in_a_row_come_from_one_case_across_batches():
    found = drawn(PatchSettings((8, 8), batch=2, patches_per_case=8), cases=4, steps=16)
    runs = [found[i : i + 8] for i in range(0, 32, 8)]
    assert all(len(set(run)) == 1 for run in runs)
    assert sorted(run[0] for run in runs) == [0, 1, 2, 3]


def test_the_order_depends_on_the_seed_and_the_place_alone():
    settings = PatchSettings((8, 8), batch=3)
    assert drawn(settings, 7, 10, start=20) == drawn(settings, 7, 30)[60:]
    assert drawn(settings, 7, 10, seed=1) != drawn(settings, 7, 10, seed=2)


def test_generators_differ_between_samples_steps_and_seeds():
    keys = [(seed, step, k) for seed in range(4) for step in range(20) for k in range(8)]
    firsts = {sample_generator(*key).integers(2**63) for key in keys}
    assert len(firsts) == len(keys)
    again = sample_generator(3, 19, 7).random(4)
    np.testing.assert_array_equal(again, sample_generator(3, 19, 7).random(4))


def test_neighbouring_generators_are_uncorrelated():
    draws = np.array([sample_generator(0, step, 0).random(200) for step in range(60)])
    between = np.corrcoef(draws)[np.triu_indices(60, 1)]
    assert abs(between.mean()) < 5 / np.sqrt(200 * between.size)
