"""Requirements against a distribution whose metadata is written by hand."""

import sys
from importlib.metadata import PackageNotFoundError, version

import pytest

from gradsurge.experiments.doctor.requirements import Package, extras_of, required_packages

METADATA = """\
Metadata-Version: 2.4
Name: Our-Tool
Version: 1.0
Provides-Extra: draw
Provides-Extra: all
Provides-Extra: chains
Requires-Dist: numpy>=1.0
Requires-Dist: typer>=999
Requires-Dist: no-such-package>=2,<3
Requires-Dist: only-elsewhere; python_version < '3'
Requires-Dist: pytest; extra == 'draw'
Requires-Dist: our-tool[draw]; extra == 'all'
Requires-Dist: other-tool[fast]; extra == 'chains'
"""
OTHER = """\
Metadata-Version: 2.4
Name: other-tool
Version: 2.5
Provides-Extra: fast
Requires-Dist: numpy; extra == 'fast'
Requires-Dist: slow-only; extra == 'slow'
"""


@pytest.fixture(autouse=True)
def installed(tmp_path, monkeypatch):
    for name, text in (("our_tool-1.0", METADATA), ("other_tool-2.5", OTHER)):
        folder = tmp_path / f"{name}.dist-info"
        folder.mkdir()
        (folder / "METADATA").write_text(text)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])


def test_what_is_needed_is_found_missing_or_too_old():
    missing, numpy, typer = required_packages("our-tool")
    assert numpy == Package("numpy", ">=1.0", version("numpy"), True)
    assert typer == Package("typer", ">=999", version("typer"), False)
    assert (missing.name, missing.found, missing.fits) == ("no-such-package", None, False)


def test_a_complaint_names_the_cure():
    missing, _, typer = required_packages("our-tool")
    assert missing.complaint == (
        "no-such-package is not installed, expected <3,>=2: pip install 'no-such-package<3,>=2'"
    )
    assert typer.complaint.startswith(f"typer is {version('typer')}, expected >=999: pip install ")


def test_extras_add_to_what_is_always_needed():
    assert extras_of("our-tool") == ["draw", "all", "chains"]
    assert [package.name for package in required_packages("our-tool", "draw")] == ["pytest"]
    assert [package.name for package in required_packages("our-tool", "all")] == ["pytest"]


def test_extras_of_a_requirement_are_followed():
    found = required_packages("our-tool", "chains")
    assert [(package.name, package.fits) for package in found] == [
        ("numpy", True),
        ("other-tool", True),
    ]


def test_a_distribution_that_is_not_installed():
    with pytest.raises(PackageNotFoundError):
        required_packages("no-such-package")
