"""NiiVue's script, taken from the installed ipyniivue package: nothing of it lies in ours.

ipyniivue brings its widget's script, and inside of it, as one string for the pages it can save
itself, a complete NiiVue: an ES module that needs nothing else. That string is what is used.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from importlib.resources import files
from urllib.parse import unquote

PACKAGE = "ipyniivue"
_INSTALL = "pip install 'gradsurge[view]'"
# What encodeURIComponent leaves of a script. Only that of NiiVue is so long.
_ENCODED = re.compile(r'"([A-Za-z0-9%\-_.!~*\'()]{100000,})"')
_EXPORTS = re.compile(r"export\s*\{([^{}]*)\}\s*;?\s*$")
_VERSION = re.compile(r'version:"([0-9][0-9.]*)"')
_NEEDED = frozenset({"Niivue", "NVImage", "COLORMAP_TYPE", "SLICE_TYPE", "SHOW_RENDER"})


@dataclass(frozen=True)
class NiivueScript:
    """An ES module.

    Attributes:
        source: its text.
        version: NiiVue's, and that of the package it was taken from.
        licence: under which it may be passed on, with its text.
    """

    source: str
    version: str
    licence: str


@cache
def niivue_script() -> NiivueScript:
    """Return NiiVue as the installed ipyniivue brings it.

    Raises:
        ValueError: ipyniivue is not there, or has no NiiVue that we know how to use.
    """
    try:
        package = distribution(PACKAGE)
        bundle = files(PACKAGE).joinpath("static", "widget.js").read_text("utf-8")
    except (PackageNotFoundError, ModuleNotFoundError) as error:
        raise ValueError(f"{PACKAGE} is missing, which shows the case: {_INSTALL}") from error
    except OSError as error:
        raise ValueError(
            f"{PACKAGE} {package.version}: its script cannot be read ({error.strerror}); install "
            f"it again: {_INSTALL}"
        ) from error
    source = module_in(bundle)
    if source is None:
        raise ValueError(
            f"{PACKAGE} {package.version}: has no NiiVue module that gradsurge knows; install "
            f"the version it was made with: {_INSTALL}"
        )
    found = _VERSION.search(source)
    told = f"NiiVue {found[1] if found else 'of unknown version'}, of {PACKAGE} {package.version}"
    return NiivueScript(source, told, _licence())


def module_in(bundle: str) -> str | None:
    """Return the ES module inside a widget's script, if it exports what a viewer needs."""
    for source in _modules(bundle):
        exports = _EXPORTS.search(source)
        names = set() if exports is None else {n.split()[-1] for n in exports[1].split(",")}
        if names >= _NEEDED:
            return source
    return None


def _modules(bundle: str) -> Iterator[str]:
    for match in _ENCODED.finditer(bundle):
        yield unquote(match[1])


def _licence() -> str:
    """Return the text that must go with every copy."""
    for path in distribution(PACKAGE).files or ():
        if path.name.upper().startswith("LICENSE"):
            return path.read_text(encoding="utf-8").strip()
    return "BSD 2-Clause License, Copyright (c) Niivue. All rights reserved."
