"""Where networks predict."""

import torch

from gradsurge.experiments.prediction.settings import AUTO


def find_device(name: str = AUTO) -> torch.device:
    """Return the device of a name; "auto" is an accelerator if there is one.

    Raises:
        ValueError: there is no such device.

    >>> find_device("cpu")
    device(type='cpu')
    """
    if name == AUTO:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:  # torch has both
        raise ValueError(f"device: {name!r} is not to be had on this machine; try cpu") from error
    return device
