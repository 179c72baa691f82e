import signal

import pytest
import torch

# Shells start background jobs with SIGINT ignored, and what is ignored is inherited: the commands
# that tests start and interrupt would not notice.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def same_random_numbers():
    """Every test starts from the same state, whatever ran before it."""
    torch.manual_seed(0)
