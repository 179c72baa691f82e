"""The folder of a case: safe on every file system, whatever the case is called."""

import hashlib
from urllib.parse import quote

_LONGEST = 200  # bytes; file systems allow 255


def folder_name(case: str) -> str:
    """Return the name of the folder, one for each case name; ASCII, no separator, not hidden.

    Anything else than letters, digits and a few signs is escaped as in web addresses. Long names
    are cut and told apart by a hash.

    >>> folder_name("sub-strokecase0001"), folder_name("../a"), folder_name("Fälle <1>")
    ('sub-strokecase0001', '%2E.%2Fa', 'F%C3%A4lle %3C1%3E')

    Raises:
        ValueError: the name is empty.
    """
    if not case:
        raise ValueError("a case without a name cannot be stored; give its files a name")
    name = quote(case, safe=" +=,@()", errors="surrogatepass")
    if name.startswith("."):
        name = f"%2E{name[1:]}"
    if name.endswith((" ", ".")):  # which Windows drops
        name = f"{name[:-1]}%{ord(name[-1]):02X}"
    if len(name) > _LONGEST:
        digest = hashlib.sha256(case.encode("utf-8", "surrogatepass")).hexdigest()
        name = f"{name[:_LONGEST]}%{digest[:24]}"
    return name
