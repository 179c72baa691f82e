import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradsurge.experiments.search import SearchTrial, select

# Few values: ties are common.
trials = st.lists(
    st.tuples(st.sampled_from([0.1, 0.5, 0.7]), st.sampled_from(["done", "failed", "running"])),
    max_size=8,
).map(
    lambda rows: [
        SearchTrial(i, {}, state, dice=dice if state == "done" else None)
        for i, (dice, state) in enumerate(rows)
    ]
)


@given(trials.flatmap(st.permutations), st.integers(1, 9))
def test_the_best_are_those_a_plain_loop_picks(trials, keep):
    left, picked = [t for t in trials if t.state == "done"], []
    while left and len(picked) < keep:
        best = left[0]
        for trial in left[1:]:
            if trial.dice > best.dice or (trial.dice == best.dice and trial.index < best.index):
                best = trial
        picked.append(best)
        left.remove(best)
    assert select(trials, keep) == picked


def test_networks_that_find_nothing_are_told_apart_by_nll():
    def tried(index, dice, nll):
        return SearchTrial(index, {}, "done", dice=dice, scores={"nll": nll})

    trials = [tried(0, 0.0, 0.05), tried(1, 0.004, 0.04), tried(2, 0.0, 0.03), tried(3, 0.0, None)]
    assert [trial.index for trial in select(trials, 4)] == [2, 1, 0, 3]
    unknown = [tried(0, 0.002, None), tried(1, 0.005, None)]
    assert select(unknown, 1)[0].index == 1
    found = [*trials, tried(4, 0.02, 9.0)]
    assert select(found, 1)[0].index == 4


def test_none_cannot_be_kept():
    with pytest.raises(ValueError, match="keep: expected a whole number above 0, got 0"):
        select([], 0)
