import pytest

from tests.experiments.runs.stores import disc_store
from tests.experiments.search.tiny import write_recipe

collect_ignore = ["warm.py"]  # imports for seconds, and holds no tests


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
