import signal

import pytest
import torch
from hypothesis import HealthCheck, settings

# Shells start background jobs with SIGINT ignored, and what is ignored is inherited: the commands
# that tests start and interrupt would not notice.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# Machines that are shared stand still at times: the clock says nothing of a test.
settings.register_profile("shared", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("shared")


@pytest.fixture(autouse=True)
def same_random_numbers():
    """Every test starts from the same state, whatever ran before it."""
    torch.manual_seed(0)
