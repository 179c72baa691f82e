"""NAME=VALUE on the command line."""

import pytest

from gradsurge.experiments.runs.option_values import parse_options


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a=40", 40),
        ("a=0.3", 0.3),
        ("a=1e-3", 1e-3),
        ("a=true", True),
        ("a=False", False),
        ("a=none", None),
        ("a=1,2.5", [1, 2.5]),
        ("a=[[1, 2], [2, 2]]", [[1, 2], [2, 2]]),
        ("a=softmax", "softmax"),
        ("a=NaN", "NaN"),
        ("a=x=y", "x=y"),
    ],
)
def test_values_have_types(text, value):
    found = parse_options("--loss-option", [text])["a"]
    assert found == value
    assert type(found) is type(value)


def test_dashes_are_underscores():
    assert parse_options("--x", ["hard-statistics=true"]) == {"hard_statistics": True}


@pytest.mark.parametrize("text", ["decline", "=3", "a=", "1a=3", "", "a b=3"])
def test_other_forms_are_refused(text):
    with pytest.raises(ValueError, match="--loss-option: expected NAME=VALUE"):
        parse_options("--loss-option", [text])


def test_a_name_given_twice_is_refused():
    with pytest.raises(ValueError, match="twice"):
        parse_options("--loss-option", ["a=1", "a=2"])
