"""A value of a wrong kind is refused in one line with the file and its own dotted key."""

import copy
import datetime
import math
import tomllib
from inspect import signature

import pytest

from gradsurge.data.datasets import DATASETS
from gradsurge.experiments.recipes.loss_options import check_loss_options
from gradsurge.experiments.recipes.read_run import RUN, TRAINING
from gradsurge.experiments.recipes.section import Mistake, dotted
from gradsurge.experiments.recipes.shipped import find_recipe
from gradsurge.losses import LOSSES, make_loss
from gradsurge.models import MODELS, plan_model
from tests.experiments.recipes.texts import refusal_of

VALUES = {
    "truth": True,
    "whole": 3,
    "number": 0.5,
    "text": "x",
    "table": {"x": 1},
    "truths": [True, False],
    "wholes": [1, 2],
    "numbers": [0.5, 0.7],
    "texts": ["x", "y"],
    "tables": [{}],
    "mixed": [1, "x"],
    "empty": [],
    "date": datetime.date(1979, 5, 27),
    "inf": math.inf,
    "nan": math.nan,
    "digits": 10**400,
}
RIGHT = {"number": ("number", "whole"), "numbers": ("numbers", "wholes")}  # others: themselves


def kinds(**keys):
    """Return key -> kind."""
    return {key: kind for kind, listed in keys.items() for key in listed.split()}


OF_TRAINING = kinds(
    whole="steps seed warmup accumulate validate_every checkpoint_every",
    number="learning_rate weight_decay momentum power clip ema",
    numbers="betas",
    text="optimiser precision",
    truth="compile deterministic",
)
OF_UNET = kinds(
    whole="cap max_depth",
    whole_or_wholes="features blocks",
    text="resolution",
    truth="deep_supervision",
)
OF_PRIMUS = kinds(
    whole="width layers heads", whole_or_wholes="token", number="drop_path layer_scale"
)
OF_RUN = kinds(
    text="preset model augmentation",
    whole="validation_cases",
    wholes="patch",
    table="patches training model_options",
)
OF_DATA = {
    "fives": {},
    "brats-mets": {},
    "kits": {},
    "inbreast": kinds(text="breasts"),
    "chase": kinds(whole="shrink"),
    "images": kinds(texts="classes", text="patient"),
    "nnunet": kinds(numbers_or_text="spacing", text="crop splits patient merge", whole="fold"),
    "lesions-2d": kinds(whole="cases seed", wholes="size"),
}
OF_LOSS = kinds(
    number="smooth decline scale blend a b gamma sigma strength",
    truth="batch include_background hard_statistics check normalise paper",
    numbers="class_weights weights",
    whole="bins",
    text="norm binning",
)
OF_VARIANT = kinds(
    text="title loss init point_of",
    whole="seeds",
    number="share",
    table="training surgery loss_options space",
)


def under(table, keys):
    """Return path -> kind, of keys of a table."""
    return {(*filter(None, table.split("/")), key): kind for key, kind in keys.items()}


HERE = {  # of the shipped recipe fives
    **under("", kinds(text="title", table="data run search variants tables evaluation scale")),
    **under("data", kinds(text="dataset source", whole_or_table="cases", table="settings")),
    **under("data/cases", kinds(whole="train validation test")),
    **under("run", OF_RUN),
    **under("run/training", OF_TRAINING),
    **under("run/patches", kinds(whole="batch patches_per_case", text="draw", number="oversample")),
    **under("run/model_options", OF_UNET),
    **under("search", kinds(text="kind", whole="trials keep seed", table="space")),
    **under("search/space/training.momentum", kinds(number="low high", text="scale")),
    **under("variants/dice-surgery", OF_VARIANT),
    **under("variants/dice-surgery/training", OF_TRAINING),
    **under("variants/dice-surgery/surgery", kinds(number="start full")),
    **under("variants/dice-surgery/loss_options", OF_LOSS),
    **under("variants/ce+dice/loss_options", OF_LOSS),
    **under("tables/1", kinds(texts="variants", text="published")),
    **under("evaluation", kinds(text="profile", texts="regions", numbers="lesion_edges")),
    **under("scale/smoke", kinds(table="data run search", whole="seeds")),
    **under("scale/small", kinds(table="data run search", whole="seeds")),
    **under("scale/small/run/training", kinds(numbers="betas")),
    **under("scale/small/search", kinds(whole="trials keep")),
}


def wrong(kind):
    """Return the values that are not of that kind."""
    right = {name for one in kind.split("_or_") for name in RIGHT.get(one, (one,))}
    return [value for name, value in VALUES.items() if name not in right]


def refused(path, value, **changes):
    """Assert that a recipe with that value names file and key."""
    content = tomllib.loads(find_recipe("fives").read_text(encoding="utf-8"))
    for table, change in changes.items():
        content[table].update(change)
    place = content
    for key in path[:-1]:
        place = place.setdefault(key, {})
    place[path[-1]] = copy.deepcopy(value)
    message = refusal_of(content)
    assert message is not None, f"{value!r} is taken"
    assert "fives.toml: " in message
    assert "\n" not in message
    assert message.partition("fives.toml: ")[2].startswith(f"{dotted(*path)}: "), message


@pytest.mark.parametrize("path", HERE, ids="/".join)
def test_every_key_is_named(path):
    for value in wrong(HERE[path]):
        refused(path, value)


@pytest.mark.parametrize(
    ("dataset", "key"), [(name, key) for name, keys in OF_DATA.items() for key in keys]
)
def test_every_setting_of_data_is_named(dataset, key):
    for value in wrong(OF_DATA[dataset][key]):
        refused(("data", "settings", key), value, data={"dataset": dataset})


@pytest.mark.parametrize("key", OF_PRIMUS)
def test_every_option_of_primus_is_named(key):
    run = {"preset": "primus"}
    for value in (*wrong(OF_PRIMUS[key]), [8, True, 8]):
        refused(("run", "model_options", key), value, run=run, data={"dataset": "kits"})


@pytest.mark.parametrize("key", OF_TRAINING)
def test_every_searched_setting_is_named(key):
    for value in wrong(OF_TRAINING[key]):
        refused(("search", "space", f"training.{key}"), [value])


@pytest.mark.parametrize("loss", LOSSES)
def test_every_option_of_a_loss_is_named(loss):
    for key, kind in OF_LOSS.items():
        for value in wrong(kind):
            with pytest.raises(Mistake, match=rf"^variants\.x\.{key}: "):
                check_loss_options("variants.x", loss, {key: value})


def test_no_key_is_left_out():
    assert OF_TRAINING.keys() == TRAINING.keys()
    assert OF_RUN.keys() == RUN.keys()
    for name, made in DATASETS.items():
        assert OF_DATA[name].keys() == signature(made).parameters.keys()
    for model in MODELS:
        with pytest.raises(ValueError, match="it takes") as caught:
            plan_model(model, 1, 2, (64, 64, 64), nonsense=1)
        options = OF_UNET if model == "residual-unet" else OF_PRIMUS
        assert set(listed(caught)) == options.keys()
    for loss in LOSSES:
        with pytest.raises(TypeError, match="it takes") as caught:
            make_loss(loss, nonsense=1)
        of_store = {"activation", "classes", "ignore_index"}
        assert set(listed(caught)) - of_store <= OF_LOSS.keys()


def listed(caught):
    return str(caught.value).rpartition("it takes ")[2].split(", ")
