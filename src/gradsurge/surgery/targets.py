"""What may be passed as logits and labels, and the errors for everything else.

Shapes use one legend in the whole package: N samples, C classes (channels), ``*S`` one to three
spatial axes, V voxels (the product of ``*S``).

Checks of shape, dtype and device are free and always on; those of values are in
`gradsurge.surgery.values`.
"""

from numbers import Integral

import torch
from torch import Tensor

from gradsurge.surgery.values import check_mask, check_one_hot

SPATIAL_RANKS = (1, 2, 3)
# torch can store these and little else; label files (NIfTI, PNG) often come so.
_BARE_UNSIGNED = (torch.uint16, torch.uint32, torch.uint64)


def check_logits(logits: Tensor, *, min_channels: int = 1) -> None:
    """Raise unless ``logits`` is a non-empty floating (N, C, *S) tensor with enough channels."""
    if not isinstance(logits, Tensor):
        raise TypeError(f"logits: expected a torch.Tensor, got {type(logits).__name__}")
    if not logits.is_floating_point():
        raise TypeError(f"logits: expected a floating dtype, got {logits.dtype}")
    if logits.ndim - 2 not in SPATIAL_RANKS:
        raise ValueError(
            f"logits: expected (N, C, *S) with one to three spatial axes, got shape "
            f"{tuple(logits.shape)}; add a batch or spatial axis with unsqueeze"
        )
    if logits.numel() == 0:
        raise ValueError(f"logits: expected at least one voxel, got shape {tuple(logits.shape)}")
    if logits.shape[1] < min_channels:
        raise ValueError(
            f"logits: softmax needs C >= {min_channels} channels, got shape "
            f"{tuple(logits.shape)}; for one channel use the sigmoid activation"
        )


def _usable(target: Tensor, logits: Tensor, name: str = "target") -> Tensor:
    if not isinstance(target, Tensor):
        raise TypeError(f"{name}: expected a torch.Tensor, got {type(target).__name__}")
    if target.is_complex():
        raise TypeError(f"{name}: expected integer, bool or floating values, got {target.dtype}")
    if target.device != logits.device:
        raise ValueError(
            f"{name}: expected on the logits' device {logits.device}, got {target.device}; "
            f"call {name}.to(logits.device)"
        )
    return target.long() if target.dtype in _BARE_UNSIGNED else target


def plain(x: Tensor) -> Tensor:
    """Return ``x`` as an ordinary tensor: MONAI's MetaTensor and the like change some methods."""
    ordinary = type(x) in (Tensor, torch.nn.Parameter) or not hasattr(x, "as_subclass")
    return x if ordinary else x.as_subclass(Tensor)


def is_one_hot_shaped(target: Tensor, logits: Tensor) -> bool:
    """Whether ``target`` is (N, C, *S), one channel a class, rather than class indices."""
    return target.shape == logits.shape and logits.shape[1] > 1


def one_hot_indices(target: Tensor) -> Tensor:
    """Return hard one-hot labels (N, C, *S) as class indices (N, *S)."""
    return (target.to(torch.uint8) if target.dtype == torch.bool else target).argmax(dim=1)


def class_indices(target: Tensor, logits: Tensor, *, check: bool = True) -> Tensor:
    """Return ``target`` as class indices (N, *S); (N, 1, *S) and hard one-hot are accepted.

    The dtype is left alone (a uint8 mask stays uint8); one-hot input becomes int64, and ``check``
    makes sure that it is hard.
    """
    target = _usable(target, logits)
    spatial = logits.shape[2:]
    if is_one_hot_shaped(target, logits):
        if check:
            check_one_hot(target)
        return one_hot_indices(target)
    if target.shape == (logits.shape[0], 1, *spatial):
        return target[:, 0]
    if target.shape == (logits.shape[0], *spatial):
        return target
    n, c = logits.shape[:2]
    raise ValueError(
        f"target: for logits {tuple(logits.shape)} expected class indices {(n, *spatial)} or "
        f"{(n, 1, *spatial)}, or one-hot {(n, c, *spatial)}; got {tuple(target.shape)}"
    )


def softmax_labels(target: Tensor, logits: Tensor, ignore_index: int | None) -> tuple[Tensor, bool]:
    """Return labels for the softmax rule, and whether they may be soft.

    They are class indices (N, *S). One-hot labels stay (N, C, *S), to be looked at where values are
    at hand; floating ones of two classes may be soft.
    """
    target = _usable(target, logits)
    if not is_one_hot_shaped(target, logits):
        return class_indices(target, logits), False
    refuse_ignore_index_beside_channels(target, ignore_index)
    return target, logits.shape[1] == 2 and target.is_floating_point()


def check_flag(name: str, value: bool) -> bool:
    """Return ``value`` if it is True or False; a word such as "no" would count as True."""
    if not isinstance(value, bool):
        raise TypeError(f"{name}: expected True or False, got {value!r}")
    return value


def check_ignore_index(ignore_index: int | None) -> None:
    """Raise unless ``ignore_index`` is a whole number or None."""
    whole = isinstance(ignore_index, Integral) and not isinstance(ignore_index, bool)
    if ignore_index is not None and not whole:
        raise TypeError(f"ignore_index: expected a whole number or None, got {ignore_index!r}")


def refuse_ignore_index_beside_channels(target: Tensor, ignore_index: int | None) -> None:
    """Raise if a softmax's (N, C, *S) ``target`` comes with an index that it cannot hold."""
    if ignore_index is not None:
        raise ValueError(
            f"ignore_index: needs class indices as target, (N, *S) or (N, 1, *S), of which some "
            f"are {ignore_index}; got one label a class, {tuple(target.shape)}. Pass a mask instead"
        )


def channel_labels(target: Tensor, logits: Tensor) -> Tensor:
    """Return ``target`` as one label in [0, 1] for every channel, shape of ``logits``."""
    target = _usable(target, logits)
    if logits.shape[1] == 1 and target.shape == (logits.shape[0], *logits.shape[2:]):
        target = target.unsqueeze(1)
    if target.shape != logits.shape:
        raise ValueError(
            f"target: the sigmoid rule needs one label a channel, shape {tuple(logits.shape)}; "
            f"got {tuple(target.shape)}"
        )
    return target


def valid_voxels(mask: Tensor | None, logits: Tensor, *, check: bool) -> Tensor | None:
    """Return ``mask`` as bool, broadcastable to ``logits``: (N, *S), (N, 1, *S) or (N, C, *S)."""
    if mask is None:
        return None
    mask = _usable(mask, logits, "mask")
    if mask.shape == (logits.shape[0], *logits.shape[2:]):
        mask = mask.unsqueeze(1)
    # Not `in`: torch.compile finds no tuple of dynamic sizes in a tuple of them.
    one_a_voxel = (logits.shape[0], 1, *logits.shape[2:])
    if mask.shape != one_a_voxel and mask.shape != logits.shape:
        raise ValueError(
            f"mask: for logits {tuple(logits.shape)} expected shape {one_a_voxel} or "
            f"{tuple(logits.shape)}; got {tuple(mask.shape)}"
        )
    if check:
        check_mask(mask)
    return mask != 0


def one_mask_a_voxel(mask: Tensor) -> Tensor:
    """Return the (N, *S) mask of a softmax, refusing one that differs between classes."""
    if mask.shape[1] != 1:
        raise ValueError(
            f"mask: softmax needs one value a voxel, (N, *S) or (N, 1, *S); got {tuple(mask.shape)}"
        )
    return mask[:, 0]


def possible_ignore_index(labels: Tensor, ignore_index: int | None) -> int | None:
    """Return ``ignore_index`` if the labels' dtype can hold it.

    torch compares a uint8 tensor with -1 as if it were 255, so a stray 255 would go unnoticed.
    """
    if ignore_index is None or labels.is_floating_point() or labels.dtype == torch.bool:
        return ignore_index
    limits = torch.iinfo(labels.dtype)
    return ignore_index if limits.min <= ignore_index <= limits.max else None
