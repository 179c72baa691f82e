"""Settings of the trainer: plans, a training to resume, and the environment, in this order."""

import pytest

from gradsurge.integrations.nnunet.settings import PREFIX, TrainerSettings, from_environment
from gradsurge.integrations.nnunet.settings_file import NAME, read_settings, write_settings


def told(**variables):
    found, unknown = from_environment({PREFIX + name: value for name, value in variables.items()})
    assert unknown == []
    return TrainerSettings.merged((PREFIX, found))


def test_nobody_says_anything():
    assert told() == TrainerSettings()
    assert told(LOSS="", DECLINE=" ") == TrainerSettings()  # an empty variable is none


def test_the_environment_is_read_as_its_values_mean():
    found = told(
        LOSS="tversky-surgery",
        DECLINE="none",
        SCALE="0.5",
        NORMALISE="batch",
        LOSS_OPTIONS='{"a": 0.3}',
        SURGERY_START="0.6",
        EPOCHS="50",
        ITERATIONS="10",
        VALIDATION_ITERATIONS="5",
        SAVE_EVERY="2",
        LEARNING_RATE="1e-3",
        START_FROM="/models/checkpoint_final.pth",
    )
    assert found == TrainerSettings(
        loss="tversky-surgery",
        decline=None,
        scale=0.5,
        normalise="batch",
        loss_options={"a": 0.3},
        surgery_start=0.6,
        epochs=50,
        iterations=10,
        validation_iterations=5,
        save_every=2,
        learning_rate=1e-3,
        start_from="/models/checkpoint_final.pth",
    )


@pytest.mark.parametrize(
    ("text", "value"), [(".25", 0.25), ("1.", 1.0), ("+2", 2.0), ("1e-3", 1e-3)]
)
def test_numbers_are_written_as_people_write_them(text, value):
    assert told(SCALE=text).scale == value


@pytest.mark.parametrize("start", [0.0, 0.29, 0.6, 0.99])
@pytest.mark.parametrize("epochs", [1, 2, 3, 50, 100])
def test_surgery_comes_once_and_never_stays_out(start, epochs):
    blends = [TrainerSettings(surgery_start=start).blend(e, epochs) for e in range(epochs)]
    assert blends == sorted(blends)
    assert blends[-1] == 1.0
    assert blends.count(0.0) == (round(100 * start) * epochs) // 100  # in whole numbers


def test_later_sources_win_and_the_others_stay():
    found = TrainerSettings.merged(
        ("plans", {"decline": 10, "scale": 0.5}), ("stored", {"decline": 15}), (PREFIX, {})
    )
    assert (found.decline, found.scale) == (15.0, 0.5)


@pytest.mark.parametrize(
    ("variable", "value", "expected"),
    [
        ("LOSS", "dise", "GRADSURGE_LOSS: expected nnunet or one of ce,"),
        ("DECLINE", "-3", "GRADSURGE_DECLINE: expected a number above 0, or none"),
        ("DECLINE", "steep", "GRADSURGE_DECLINE: expected a number above 0"),
        ("SCALE", "NaN", "GRADSURGE_SCALE: expected a number above 0"),
        ("SCALE", "inf", "GRADSURGE_SCALE: expected a number above 0"),
        ("SCALE", "none", "GRADSURGE_SCALE: expected a number above 0; got None"),
        ("SURGERY_START", "1", "GRADSURGE_SURGERY_START: expected a number from 0 and below 1"),
        ("EPOCHS", "2.5", "GRADSURGE_EPOCHS: expected a whole number from 1 on"),
        ("EPOCHS", "true", "GRADSURGE_EPOCHS: expected a whole number"),
        ("LEARNING_RATE", "0", "GRADSURGE_LEARNING_RATE: expected a number above 0"),
        ("LOSS_OPTIONS", "a=0.3", "GRADSURGE_LOSS_OPTIONS: expected JSON such as"),
        ("LOSS_OPTIONS", '{"decline": 3}', "decline has a setting of its own"),
        ("START_FROM", "[1]", "GRADSURGE_START_FROM: expected the path"),
    ],
)
def test_mistakes_name_the_variable(variable, value, expected):
    with pytest.raises(ValueError, match=expected):
        told(**{variable: value})


@pytest.mark.parametrize("entry", [["loss"], "dice", {"declin": 3}])
def test_a_wrong_entry_of_the_plans_is_named(entry):
    with pytest.raises(ValueError, match="plans, entry 'gradsurge'"):
        TrainerSettings.merged(("plans, entry 'gradsurge'", entry))


def test_variables_that_name_nothing_are_reported_but_for_the_tests_own():
    environment = {"GRADSURGE_DECLIN": "3", "GRADSURGE_NNUNET_PYTHON": "x", "PATH": "y"}
    assert from_environment(environment) == ({}, ["GRADSURGE_DECLIN"])


def test_settings_come_back_from_their_file(tmp_path):
    settings = TrainerSettings(loss="dice-surgery", decline=None, loss_options={"smooth": 1e-4})
    write_settings(tmp_path, settings)
    assert TrainerSettings.merged(("stored", read_settings(tmp_path))) == settings


def test_no_file_means_no_settings(tmp_path):
    assert read_settings(tmp_path) == {}


@pytest.mark.parametrize("text", ["", "{", "[]", '{"settings": 3}', "\x00"])
def test_a_damaged_file_is_named(tmp_path, text):
    (tmp_path / NAME).write_text(text)
    with pytest.raises(ValueError, match=NAME):
        read_settings(tmp_path)
