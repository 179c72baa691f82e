"""Which of a package's requirements are installed, read from metadata: nothing is imported."""

from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, metadata, requires, version
from typing import NamedTuple

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


class Package(NamedTuple):
    """A requirement, and what is there of it.

    Attributes:
        name: of the package.
        wanted: versions that will do, as pip writes them; empty for any.
        found: the version that is installed, None if there is none.
        fits: whether that version will do.
    """

    name: str
    wanted: str
    found: str | None
    fits: bool

    @property
    def command(self) -> str:
        """The command that brings it."""
        return f"pip install '{self.name}{self.wanted}'"

    @property
    def complaint(self) -> str:
        """What is wrong with it, and the cure, in one line."""
        there = "is not installed" if self.found is None else f"is {self.found}"
        wanted = f", expected {self.wanted}" if self.wanted else ""
        return f"{self.name} {there}{wanted}: {self.command}"


def required_packages(distribution: str, extra: str = "") -> list[Package]:
    """Return what a distribution needs, or what one of its extras adds, sorted by name.

    Args:
        distribution: name of an installed distribution.
        extra: one of its extras; none for what it always needs.

    Raises:
        PackageNotFoundError: the distribution itself is not installed.

    >>> "rich" in [package.name for package in required_packages("typer")]
    True
    """
    found: dict[str, Package] = {}
    for requirement in _requirements(distribution, extra):
        for one in _with_its_extras(requirement):
            if canonicalize_name(one.name) != canonicalize_name(distribution):
                found.setdefault(canonicalize_name(one.name), _look(one))
    return sorted(found.values())


def extras_of(distribution: str) -> list[str]:
    """Return the names of a distribution's extras.

    Raises:
        PackageNotFoundError: it is not installed.
    """
    return metadata(distribution).get_all("Provides-Extra") or []


def _requirements(distribution: str, extra: str) -> Iterator[Requirement]:
    for text in requires(distribution) or []:
        requirement = Requirement(text)
        marker = requirement.marker
        always = marker is None or marker.evaluate({"extra": ""})
        if always is (extra == "") and (marker is None or marker.evaluate({"extra": extra})):
            yield requirement


def _with_its_extras(requirement: Requirement) -> Iterator[Requirement]:
    """Yield a requirement like dask[distributed], and what its extras ask for."""
    yield requirement
    try:
        for extra in requirement.extras:
            yield from _requirements(requirement.name, extra)
    except PackageNotFoundError:
        return  # the complaint about the package itself will do


def _look(requirement: Requirement) -> Package:
    wanted = str(requirement.specifier)
    try:
        found = version(requirement.name)
    except PackageNotFoundError:
        return Package(requirement.name, wanted, None, False)
    fits = requirement.specifier.contains(found, prereleases=True)
    return Package(requirement.name, wanted, found, fits)
