"""A recipe as small as one can be, to be changed by tests."""

import pytest

from gradsurge.experiments.recipes import read_recipe, reading

SMALL = """
title = "Discs"

[data]
dataset = "lesions-2d"
settings = { cases = 10, size = [32, 32] }

[run]
preset = "quick"
training = { steps = 30 }

[search]
kind = "random"
trials = 4
keep = 2
space = { "training.learning_rate" = { low = 1e-3, high = 1e-2, scale = "log" } }

[variants]
ce = {}
dice-surgery = {}
tversky = { space = { "loss.a" = [0.3, 0.7] } }

[tables]
1 = {}

[scale.smoke]
run.training = { steps = 3 }
"""

GRID = """
title = "Discs"

[data]
dataset = "lesions-2d"

[run]
preset = "quick"
training = { steps = 30, validate_every = 25, warmup = 6 }

[search]
kind = "grid"
share = 0.3333
space = { "training.learning_rate" = [1e-3, 3e-3], "training.ema" = [0.9] }

[variants]
dice = { seeds = 3 }
tversky-surgery = { seeds = 2, space = { "loss.a" = [0.3, 0.7] } }
"tversky-surgery.hard" = { loss_options = { hard_statistics = true }, point_of = "tversky-surgery" }
"dice.first" = { share = 0.6, point_of = "dice" }
"dice-surgery.last" = { share = 0.4, point_of = "dice", init = "dice.first" }
"""


def written(folder, text, name="discs.toml"):
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return file


def refusal_of(content):
    """Return why the shipped recipe fives is refused with that content; None if it is not."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reading, "_parse", lambda file: content)
        try:
            read_recipe("fives")
        except ValueError as error:
            return str(error)
    return None
