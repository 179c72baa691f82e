"""The weights of a trained nnU-Net as the first ones of another training, heads included.

nnU-Net's own ``-pretrained_weights`` leaves the segmentation layers out and starts them at random,
which suits another task. To calibrate a trained network they must stay.
"""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy._core.multiarray import scalar
from torch import nn

# What nnU-Net's checkpoints hold beside tensors and plain values: the numbers of its log.
_NUMBERS: list[Any] = [
    np.dtype,
    np.dtypes.Float64DType,
    np.dtypes.Float32DType,
    np.dtypes.Int64DType,
    (scalar, "numpy._core.multiarray.scalar"),
    (scalar, "numpy.core.multiarray.scalar"),  # of NumPy 1
]


def checkpoint_of(place: str | Path, fold: int | str) -> Path:
    """Return the checkpoint that is named, or that of a fold where a trained model is named."""
    return (
        Path(place, f"fold_{fold}", "checkpoint_final.pth") if Path(place).is_dir() else Path(place)
    )


def load_weights(network: nn.Module, file: str | Path) -> int | str | None:
    """Give a network all weights of a checkpoint of nnU-Net; nothing is unpickled.

    Args:
        network: compiled and distributed ones too.
        file: checkpoint_final.pth or the like.

    Returns:
        The fold that the checkpoint was trained on, where it says so.

    Raises:
        ValueError: the file is none, or its network is another one.
    """
    found = _read(Path(file))
    weights = found["network_weights"]
    bare = getattr(network, "module", network)
    bare = getattr(bare, "_orig_mod", bare)
    try:
        bare.load_state_dict({name.removeprefix("module."): w for name, w in weights.items()})
    except RuntimeError as error:
        first = " ".join(str(error).split())[:300]
        raise ValueError(
            f"start_from: {file}: its network is not the one of these plans ({first}); use the "
            f"checkpoint of the same plans, configuration and data set"
        ) from error
    arguments = found.get("init_args")
    return arguments.get("fold") if isinstance(arguments, dict) else None


def _read(file: Path) -> dict[str, Any]:
    try:
        with torch.serialization.safe_globals(_NUMBERS):
            found = torch.load(file, map_location="cpu", weights_only=True)
    except OSError as error:
        raise ValueError(
            f"start_from: {file}: cannot be read ({error.strerror or error})"
        ) from error
    except Exception as error:  # torch.load raises almost anything on a damaged file
        reason = str(error).splitlines()[0][:200]
        raise ValueError(f"start_from: {file}: is no checkpoint of nnU-Net ({reason})") from error
    if not isinstance(found, dict) or not isinstance(found.get("network_weights"), dict):
        raise ValueError(f"start_from: {file}: is no checkpoint of nnU-Net (no network_weights)")
    return found
