"""Where a study is kept: a journal file, or a PostgreSQL database by URL. Passwords stay hidden."""

import re
from collections.abc import Iterable
from pathlib import Path
from urllib.parse import unquote

from gradsurge.data.case_error import printable

JOURNAL = "search.journal"
HIDDEN = "***"
# The driver of the extra [postgres]; SQLAlchemy's own default differs between its versions.
_DRIVER = "postgresql+psycopg"
_SCHEMES = {
    "postgresql": _DRIVER,
    "postgres": _DRIVER,
    "postgresql+psycopg": _DRIVER,
    "postgresql+psycopg2": "postgresql+psycopg2",
}
_SECRET_QUERY = re.compile(r"\b(\w*password|passfile|sslkey)=([^&#\s]*)", re.IGNORECASE)


def journal_of(folder: Path) -> str:
    """Return the storage that a folder has by default."""
    return str(folder / JOURNAL)


def is_database(storage: str) -> bool:
    """Tell a URL from the path of a file."""
    return "://" in storage


def database_url(storage: str) -> str:
    """Return the URL for SQLAlchemy, driver included.

    >>> database_url("postgresql://ann@server/studies")
    'postgresql+psycopg://ann@server/studies'

    Raises:
        ValueError: it is of no database that workers on several machines can share.
    """
    scheme, _, rest = storage.partition("://")
    if scheme.lower() not in _SCHEMES:
        raise ValueError(
            f"storage: expected the path of a journal file, or postgresql://user@host/database; "
            f"got {shown_storage(storage)}"
        )
    return f"{_SCHEMES[scheme.lower()]}://{rest}"


def shown_storage(storage: str) -> str:
    """Return a storage as it may be printed: without its password.

    >>> shown_storage("postgresql://ann:secret@server:5432/studies?sslpassword=x")
    'postgresql://ann:***@server:5432/studies?sslpassword=***'
    >>> shown_storage("runs/search.journal")
    'runs/search.journal'
    """
    if not is_database(storage):
        return printable(storage)
    scheme, _, rest = storage.partition("://")
    # The last @ parts them: a password may have one that should have been written %40.
    user, at, place = rest.rpartition("@")
    name, colon, _ = user.partition(":")
    place = _SECRET_QUERY.sub(rf"\1={HIDDEN}", place)
    if not at:
        place = _without_odd_port(place)
    return printable(f"{scheme}://{name}{f':{HIDDEN}' if colon else ''}{at}{place}")


def without_secrets(text: str, storage: str) -> str:
    """Return somebody else's message without the passwords of a storage.

    >>> without_secrets("no user ann with a b", "postgresql://ann:a%20b@server/studies")
    'no user ann with ***'
    """
    for secret in sorted(_secrets(storage), key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return text


def without_typed_secrets(text: str, arguments: Iterable[str]) -> str:
    """Return a message without the passwords of URLs that were typed, wherever they were typed.

    >>> url = "postgresql://ann:secret@server/studies"
    >>> without_typed_secrets(f"no such file: {url}", ["search", url])
    'no such file: postgresql://ann:***@server/studies'
    """
    for typed in filter(is_database, arguments):
        for form in (typed, str(Path(typed))):  # a path has one slash where a URL has two
            text = text.replace(form, shown_storage(typed))
    return text


def _secrets(storage: str) -> set[str]:
    _, _, rest = storage.partition("://")
    user, _, place = rest.rpartition("@")
    found = {user.partition(":")[2], *(value for _, value in _SECRET_QUERY.findall(place))}
    return {form for value in found if value for form in (value, unquote(value))}


def _without_odd_port(place: str) -> str:
    """Return a place without user; what stands for a port and is none may be a password."""
    host, colon, rest = place.partition(":")
    port = rest.partition("/")[0].partition("?")[0]
    return f"{host}:{HIDDEN}" if colon and "/" not in host and not port.isdigit() else place
