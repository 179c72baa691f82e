"""The closed form where samples differ, against the best bias that a search finds."""

import math

import pytest

from gradsurge import Surgery, make_loss
from gradsurge.experiments.differing_samples import BATCHES, main, settle_samples


def dice(p, y):
    score = (2 * (p * y).sum(-1) + 1e-5) / ((p + y).sum(-1) + 1e-5)
    return (1 - score[:, 1]).mean()


MAKERS = [lambda: make_loss("dice-surgery"), lambda: Surgery(dice)]


@pytest.mark.parametrize("make", MAKERS, ids=["fused", "wrapped"])
@pytest.mark.parametrize("name", BATCHES)
def test_the_closed_form_is_about_as_good_as_the_best_bias(name, make):
    rest = settle_samples(BATCHES[name], make)
    best = rest.nll(rest.best_bias())
    assert rest.nll(rest.closed_form) == pytest.approx(best, rel=1e-3)
    assert rest.nll(0.0) > rest.nll(rest.closed_form)
    if name == "large and large":
        assert rest.plain_means == pytest.approx(rest.closed_form, abs=1e-3)
    else:  # the wrong sign: worse than no correction
        assert rest.nll(rest.plain_means) > rest.nll(0.0)


def test_at_rest_it_is_the_ratio_of_false_positives_to_what_is_missed():
    rest = settle_samples(BATCHES["large, tiny and none"])
    p, y = rest.logits.sigmoid(), rest.labels
    ratio = (p * (1 - y)).sum() / ((1 - p) * y).sum()
    assert rest.closed_form == pytest.approx(math.log(ratio), abs=1e-3)


def test_the_command_prints_every_batch(capsys):
    main()
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == list(BATCHES)
