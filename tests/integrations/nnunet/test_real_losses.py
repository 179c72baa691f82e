"""Against nnU-Net's own loss classes, in its environment."""

from tests.integrations.nnunet.cases import TASKS
from tests.integrations.nnunet.nnunet_environment import ask, environment_of


def test_values_and_gradients_are_nnunets(nnunet_python, tmp_path):
    found = ask(nnunet_python, "tests.integrations.nnunet.real_losses", environment_of(tmp_path))
    assert set(TASKS) <= set(found)
    assert sum(", rank " in name for name in found) == 4
    assert all(set(kinds) == {"plain", "surgery"} for kinds in found.values())
    far = {(n, k): d for n, kinds in found.items() for k, d in kinds.items() if not d < 1e-5}
    assert not far
