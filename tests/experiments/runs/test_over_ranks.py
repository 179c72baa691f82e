"""What one rank finds wrong, all of them tell."""

import pytest

from gradsurge.experiments.runs import over_ranks
from gradsurge.experiments.runs.over_ranks import ALONE, Ranks


@pytest.fixture
def other_rank(monkeypatch):
    """Stands in for rank 1: what it has to say reaches rank 0."""
    says = []

    def gather(told, own):
        told[0], told[1] = own, says[0] if says else None

    monkeypatch.setattr(over_ranks.dist, "all_gather_object", gather)
    return says


def test_a_problem_of_another_rank_is_raised_here(other_rank):
    other_rank.append("case_9: image.b2nd: damaged")
    with pytest.raises(ValueError, match="case_9"), Ranks(0, 2).together():
        pass


def test_a_problem_here_is_told_before_it_is_raised(other_rank):
    with pytest.raises(ValueError, match="case_1: gone") as caught, Ranks(0, 2).together():
        raise OSError("case_1:\ngone")
    assert isinstance(caught.value.__cause__, OSError)


def test_without_problems_nothing_happens(other_rank):
    with Ranks(0, 2).together():
        done = True
    assert done


def test_alone_an_error_stays_what_it_is():
    with pytest.raises(FileNotFoundError), ALONE.together():
        raise FileNotFoundError("gone")
