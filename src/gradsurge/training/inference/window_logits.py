"""The windows of an image through a network, some at a time."""

import itertools
from collections.abc import Callable, Iterator

import torch
from torch import Tensor
from torch.nn import functional

from gradsurge.training.inference.mirroring import mirrored
from gradsurge.training.inference.single_convolutions import fast_convolutions
from gradsurge.training.inference.window_places import Place, window_places
from gradsurge.training.inference.window_request import WindowRequest, margins

Model = Callable[[Tensor], Tensor]


def window_logits(
    model: Model, image: Tensor, request: WindowRequest, device: torch.device
) -> Iterator[tuple[Place, Tensor]]:
    """Yield the corner of every window and its logits (K, *W), float32, on the device.

    Corners are those of the padded image and rise along its first axis. Nothing is recorded for a
    gradient.

    Raises:
        ValueError: the model returns another shape than (N, K, *W).
        TypeError: it does not return one tensor.
    """
    padded = _padded(image, request)
    network = mirrored(model, request.mirror_axes)
    places = window_places(padded.shape[1:], request.window, request.overlap)
    while chosen := list(itertools.islice(places, request.batch)):
        cut = [_cut_out(padded, place, request.window) for place in chosen]
        windows = torch.stack(cut) if len(cut) > 1 else cut[0].unsqueeze(0)
        windows = windows.to(device)
        with torch.inference_mode(), fast_convolutions(windows):
            logits = network(windows)
            _check(logits, len(chosen), request.window)
            logits = logits.float()
        yield from zip(chosen, logits, strict=True)


def _padded(image: Tensor, request: WindowRequest) -> Tensor:
    added = margins(image.shape[1:], request.window)
    if not any(map(sum, added)):
        return image.detach()
    # torch counts axes from the last.
    return functional.pad(image.detach(), [n for pair in reversed(added) for n in pair])


def _cut_out(image: Tensor, place: Place, window: tuple[int, ...]) -> Tensor:
    boxes = (slice(p, p + w) for p, w in zip(place, window, strict=True))
    return image[(slice(None), *boxes)]


def _check(logits: object, count: int, window: tuple[int, ...]) -> None:
    if not isinstance(logits, Tensor):
        raise TypeError(
            f"model: expected one tensor of logits, got {type(logits).__name__}; networks with "
            f"deep supervision return several unless model.eval() was called"
        )
    if logits.ndim != len(window) + 2 or (len(logits), *logits.shape[2:]) != (count, *window):
        raise ValueError(
            f"model: expected logits of shape {(count, 'K', *window)}, got {tuple(logits.shape)}"
        )
