"""Figure 5: runs in columns by optimiser, in colours by loss."""

from dataclasses import replace

import numpy as np
import pytest

from gradsurge.experiments.runs import RunRequest, plan_run
from gradsurge.experiments.runs.history import RunHistory, Validated
from gradsurge.report.figures import optimiser_curves
from gradsurge.report.style import save
from tests.experiments.runs.stores import disc_store
from tests.report.figures.files import assert_opens


@pytest.fixture(scope="module")
def histories(tmp_path_factory):
    """Two losses with two optimisers; of AdamW's Dice two seeds."""
    store = disc_store(tmp_path_factory.mktemp("curves"))

    def history(loss, optimiser, nll, seed=0):
        training = {"optimiser": optimiser, "learning_rate": 0.01, "seed": seed}
        return RunHistory(
            name=f"{loss}-{optimiser}-{seed}",
            config=plan_run(store, RunRequest(loss, training=training)),
            steps=[1, 2, 3],
            losses=[0.9, 0.6, 0.5],
            learning_rates=[0.01] * 3,
            minutes=1.0,
            validations=[
                Validated(1, {"dice": 0.4, "nll": 10 * nll}, True),
                Validated(3, {"dice": 0.7, "nll": nll}, True),
            ],
            outcome=None,
        )

    return [
        history("dice", "adamw", 0.2),
        history("dice", "sgd", 0.3),
        history("dice-surgery", "sgd", 0.05),
        history("dice", "adamw", 0.25, seed=1),
        history("dice-surgery", "adamw", 0.04),
    ]


def test_columns_are_optimisers_and_colours_losses(histories, tmp_path):
    data = optimiser_curves.compute(histories)
    figure = optimiser_curves.draw(data)
    grid = np.array(figure.axes).reshape(3, 2)
    assert [axis.get_title() for axis in grid[0]] == ["AdamW", "SGD + Nesterov momentum"]
    adam, sgd = grid[2]
    assert [line.get_ydata()[-1] for line in adam.lines] == [0.2, 0.25, 0.04]
    assert [line.get_ydata()[-1] for line in sgd.lines] == [0.3, 0.05]
    assert len({line.get_color() for line in adam.lines}) == 2
    assert {x.get_color() for x in adam.lines} == {x.get_color() for x in sgd.lines}
    legend = [text.get_text() for text in grid[0, 0].get_legend().get_texts()]
    assert legend == ["Dice, rate 0.01", "Dice surgery, rate 0.01"]
    assert adam.get_yscale() == "log"
    assert_opens(save(figure, tmp_path, "curves"))


def test_numbers_are_the_last_validations(histories):
    found = optimiser_curves.numbers(optimiser_curves.compute(histories[:1]))
    assert found == {
        "dice-adamw-0 (dice), AdamW: last validation Dice": 0.7,
        "dice-adamw-0 (dice), AdamW: last validation NLL": 0.2,
    }


def test_a_run_that_has_just_begun_is_an_empty_line(histories):
    young = replace(histories[0], steps=[], losses=[], learning_rates=[], validations=[])
    data = optimiser_curves.compute([young])
    assert optimiser_curves.numbers(data) == {}
    assert len(optimiser_curves.draw(data).axes) == 3


def test_no_run_is_an_error():
    with pytest.raises(ValueError, match="at least one run"):
        optimiser_curves.draw([])
