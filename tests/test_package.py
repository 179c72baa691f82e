"""The top-level package: every public name is there, none is loaded before its first use."""

import subprocess
import sys

import pytest

import gradsurge


@pytest.mark.parametrize("name", gradsurge.__all__)
def test_public_names_are_there(name):
    assert getattr(gradsurge, name) is getattr(gradsurge, name)
    assert name in dir(gradsurge)


@pytest.mark.parametrize("name", ["calibration", "losses", "surgery"])
def test_packages_are_there_without_importing_them(name):
    assert getattr(gradsurge, name).__name__ == f"gradsurge.{name}"
    assert name in dir(gradsurge)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'gradsurge' has no attribute 'nope'"):
        gradsurge.nope  # noqa: B018


def test_star_import_and_a_name_from_the_package_load_torch_then():
    code = (
        "import sys, gradsurge; assert 'torch' not in sys.modules\n"
        "from gradsurge import *; assert 'torch' in sys.modules\n"
        "assert make_loss('dice') is not None"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
