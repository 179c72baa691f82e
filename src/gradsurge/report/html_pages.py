"""What all pages of ours share: templates that escape, and a policy that lets nothing else in."""

import base64
import hashlib
from importlib.resources import files

from jinja2 import Environment, PackageLoader, StrictUndefined


def templates_of(package: str) -> Environment:
    """Return the templates of a package: texts are escaped, and what is missing is an error.

    Args:
        package: dotted name; its folder ``templates`` is looked in.
    """
    environment = Environment(
        loader=PackageLoader(package, "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # Jinja's tojson escapes what could end a script; NaN would be no JSON, and must not pass.
    environment.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    return environment


def asset_of(package: str, name: str) -> str:
    """Return the text of one of our own scripts or styles, in a package's folder ``assets``."""
    return files(package).joinpath("assets", name).read_text("utf-8")


def policy(**allowed: str) -> str:
    """Return a content security policy: nothing, but for what is named.

    Args:
        **allowed: kind of source -> what of it, as ``img="data:"``.

    >>> policy(img="data:")
    "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'"
    """
    named = "".join(f"; {kind}-src {what}" for kind, what in allowed.items())
    return f"default-src 'none'{named}; base-uri 'none'; form-action 'none'"


def exactly(text: str) -> str:
    """Return what lets one script or style through, by its digest.

    >>> exactly("")
    "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"
    """
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
