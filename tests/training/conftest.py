import pytest

from gradsurge.training import make_fabric


@pytest.fixture(scope="session")
def fabric():
    return make_fabric("cpu")
