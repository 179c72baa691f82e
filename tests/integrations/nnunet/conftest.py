"""nnU-Net itself, which lives in an environment of its own."""

import pytest

from tests.integrations.nnunet.nnunet_environment import VARIABLE, find_python

# They are run there, and import nnU-Net.
collect_ignore = ["real_losses.py", "real_ranks.py", "real_trainers.py"]


@pytest.fixture(scope="session")
def nnunet_python():
    """The interpreter of an environment with nnU-Net and gradsurge."""
    python = find_python()
    if python is None:
        pytest.skip(f"no environment with nnU-Net: make nnunet, or {VARIABLE}=/its/bin/python")
    return python
