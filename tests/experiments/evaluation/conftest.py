from functools import partial

import pytest

from gradsurge.experiments.evaluation import collect
from gradsurge.experiments.statistics import bootstrap_mean


@pytest.fixture(autouse=True, scope="session")
def few_resamples():
    """Intervals are tested with the statistics; here they would take most of the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(collect, "bootstrap_mean", partial(bootstrap_mean, resamples=100))
        yield
