import pytest
import torch


@pytest.fixture(autouse=True)
def same_random_numbers():
    """Every test starts from the same state, whatever ran before it."""
    torch.manual_seed(0)
