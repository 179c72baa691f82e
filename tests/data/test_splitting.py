"""Splits: published sizes exactly, groups whole, the same everywhere."""

import itertools
import logging
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradsurge.data.balanced_splitting import divide_balanced
from gradsurge.data.datasets import DATASETS, RawCase
from gradsurge.data.splitting import apportioned, divide, divide_as_published

SHARES = {"train": 64, "validation": 16, "test": 20}


def cases(groups, split=None):
    """Cases of groups of the given sizes."""
    return [
        RawCase(f"{g}-{i}", f"patient {g}", {"image": Path("x")}, split)
        for g, size in enumerate(groups)
        for i in range(size)
    ]


def counts(split):
    return [len(split[s]) for s in ("train", "validation", "test")]


def test_a_split_is_this_one_on_every_machine():
    split = divide(cases([1] * 6), SHARES, seed=0)
    assert split == {
        "train": ["0-0", "2-0", "3-0", "4-0"],
        "validation": ["5-0"],
        "test": ["1-0"],
    }


@given(st.lists(st.integers(1, 5), min_size=3, max_size=30), st.integers(0, 99))
def test_groups_are_whole_and_every_case_is_used_once(groups, seed):
    pool = cases(groups)
    split = divide(pool, SHARES, seed)
    home = {name: s for s, names in split.items() for name in names}
    assert len(home) == sum(map(len, split.values())) == len(pool)
    assert all(home[c.name] == home[f"{c.name.split('-')[0]}-0"] for c in pool)
    assert all(counts(split))
    wanted = apportioned(len(pool), SHARES)
    for s in ("validation", "test"):
        assert abs(len(split[s]) - wanted[s]) <= max(groups)


@given(st.integers(0, 500), st.lists(st.integers(1, 300), min_size=3, max_size=3))
def test_apportioned_sums_and_follows_the_shares(count, shares):
    sizes = apportioned(count, dict(zip("abc", shares, strict=True)))
    assert sum(sizes.values()) == count
    assert (min(sizes.values()) > 0) == (count >= 3)
    for s, share in zip("abc", shares, strict=True):
        assert abs(sizes[s] - count * share / sum(shares)) <= 2


@pytest.mark.parametrize(
    ("name", "groups"),
    [
        ("inbreast", [2] * 40 + [1] * 12 + [3] * 5),
        ("brats-mets", [1] * 600 + [2] * 300 + [8] * 12),
        ("chase", [2] * 14),
    ],
)
def test_the_full_sets_have_the_published_sizes(name, groups, caplog):
    dataset = DATASETS[name]()
    for seed in range(4):
        assert counts(dataset.split(cases(groups), seed)) == list(dataset.sizes.values())
    assert bool(caplog.records) == (sum(groups) != sum(dataset.sizes.values()))


def test_fives_keeps_its_test_set(caplog):
    train, test = cases([1] * 600, "train"), cases([1] * 200, "test")
    test = [RawCase(f"t{c.name}", f"t{c.group}", c.files, "test") for c in test]
    split = DATASETS["fives"]().split(train + test, 3)
    assert counts(split) == [480, 120, 200]
    assert set(split["test"]) == {c.name for c in test}
    assert not caplog.records


def test_part_of_a_set_is_scaled_and_said(caplog):
    with caplog.at_level(logging.WARNING):
        split = divide_as_published("kits", cases([1] * 10), DATASETS["kits"].sizes, seed=0)
    assert counts(split) == [4, 1, 5]
    (said,) = caplog.messages
    assert said.startswith("kits: 10 cases where 489 are published: 4 / 1 / 5 instead of 192 / 50")


def test_a_larger_set_leaves_cases_in_no_split_and_says_so(caplog):
    """BraTS-METS has 1296 cases, the paper used 451: the others are prepared, and not used."""
    pool = [
        RawCase(f"BraTS-MET-{p:05d}-{t:03d}", f"BraTS-MET-{p:05d}", {})
        for p in range(648)
        for t in range(2)
    ]
    split = DATASETS["brats-mets"]().split(pool, 0)
    assert [len(names) for names in split.values()] == pytest.approx([156, 44, 251], abs=1)
    used = [name for names in split.values() for name in names]
    assert len(set(used)) == len(used)
    patients = [{name[:15] for name in names} for names in split.values()]
    assert not any(a & b for a, b in itertools.combinations(patients, 2))
    (said,) = caplog.messages
    assert f"{1296 - len(used)} prepared but in no split" in said
    assert DATASETS["brats-mets"]().split(pool, 1) != split


def test_what_is_published_stays():
    def named(prefix, split, number):
        return [RawCase(f"{prefix}{i}", f"{prefix}{i}", {}, split) for i in range(number)]

    train, val, test = named("a", "train", 10), named("b", "validation", 3), named("c", "test", 4)
    assert counts(divide(train + val + test, SHARES, 0)) == [10, 3, 4]
    assert counts(divide(train + test, SHARES, 0)) == [8, 2, 4]
    assert counts(divide(train + val, SHARES, 0)) == [10, 3, 0]
    assert counts(divide(named("a", None, 10) + test, SHARES, 0)) == [8, 2, 4]


@pytest.mark.parametrize("groups", [[1], [4], [1, 1], [2, 2], [2, 2, 2], [9, 1, 1]])
def test_few_cases_train_first(groups):
    split = divide(cases(groups), SHARES, 0)
    assert split["train"]
    assert sum(counts(split)) == sum(groups)
    assert sum(map(bool, counts(split))) == min(len(groups), 3)


def test_balanced_splits_are_alike():
    # Numbers of tumours as in KiTS: most have one; volumes over four decades.
    strata = {
        f"case_{n:05d}": (1 + (n % 9 == 0) + (n % 31 == 0), 10.0 ** (1 + (n * 0.61803) % 4))
        for n in range(489)
    }
    sizes = DATASETS["kits"].sizes
    for seed in range(3):
        split = divide_balanced(strata, sizes, seed)
        assert counts(split) == list(sizes.values())
        assert len({n for names in split.values() for n in names}) == 489
        several = [sum(strata[n][0] > 1 for n in names) / len(names) for names in split.values()]
        decades = [np.mean([np.log10(strata[n][1]) for n in names]) for names in split.values()]
        assert max(several) - min(several) < 0.03
        assert max(decades) - min(decades) < 0.05  # by chance three times that
    assert divide_balanced(strata, sizes, 0) != divide_balanced(strata, sizes, 1)
    reversed_strata = dict(reversed(strata.items()))
    assert divide_balanced(reversed_strata, sizes, 1) == divide_balanced(strata, sizes, 1)
