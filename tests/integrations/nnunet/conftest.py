"""nnU-Net itself, which lives in an environment of its own."""

import pytest

from tests.integrations.nnunet.nnunet_environment import VARIABLE, find_python

collect_ignore = ["real_losses.py", "real_trainers.py"]  # they are run there, and import nnU-Net


@pytest.fixture(scope="session")
def nnunet_python():
    """The interpreter of an environment with nnU-Net and gradsurge."""
    python = find_python()
    if python is None:
        pytest.skip(f"no environment with nnU-Net: make nnunet, or {VARIABLE}=/its/bin/python")
    return python
