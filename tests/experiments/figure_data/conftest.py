from typing import NamedTuple

import pytest

from gradsurge.data.store import Store
from gradsurge.experiments.figure_data.network_on_store import NetworkOnStore, open_on
from tests.experiments.figure_data.tiny_runs import phantom_store, tiny_run


class Volumes(NamedTuple):
    store: Store
    dice: NetworkOnStore
    surgery: NetworkOnStore


@pytest.fixture(scope="session")
def volumes(tmp_path_factory):
    """A store of 3D phantoms with a Dice and a surgery run."""
    folder = tmp_path_factory.mktemp("volumes")
    store = phantom_store(folder / "store")
    runs = [tiny_run(store, folder / loss, loss) for loss in ("dice", "dice-surgery")]
    return Volumes(store, *(open_on(store, run) for run in runs))
