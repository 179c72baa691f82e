"""A sliding window over an image of any size, in memory that the rows of one window bound.

Where windows overlap, their logits are averaged with the weights of `gaussian_weights`. Softmax or
sigmoid come after that, on the mean logits.

Windows go to the device of the network, and the sums lie there too: they are small, since only the
rows that later windows reach are kept. Finished logits go to the CPU.
"""

from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Tensor

from gradsurge.training.inference.gaussian_weights import gaussian_weights
from gradsurge.training.inference.rows import AllRows, RollingRows
from gradsurge.training.inference.window_logits import Model, window_logits
from gradsurge.training.inference.window_request import WindowRequest, margins

Device = torch.device | str | None


def sliding_window_logits(
    model: Model,
    image: Tensor,
    window: tuple[int, ...],
    *,
    overlap: float = 0.5,
    sigma: float = 0.125,
    batch: int = 1,
    mirror_axes: tuple[int, ...] = (),
    device: Device = None,
    divisor: tuple[int, ...] | int = 1,
) -> Tensor:
    """Return the logits of a whole image.

    Args:
        model: (N, C, *W) to logits (N, K, *W): a network in eval mode, on ``device``.
        image: floating point (C, *S), S of two or three axes. An axis shorter than the window is
            padded with 0, the mean of a z-scored image, on both sides, and cut back.
        window: (*W), voxels.
        overlap: share of a window that the next one covers at least.
        sigma: width of the Gaussian weights, as a share of the window.
        batch: windows that go through the network together.
        mirror_axes: axes of S, counted from 0; the logits are the mean over all flips along them.
        device: of the network and the sums; None for that of the image.
        divisor: by which the window's sizes must be divisible; our networks have it as `divisor`.

    Returns:
        (K, *S), float32, on the CPU.

    Raises:
        ValueError: an argument cannot be, or the model returns another shape.
        TypeError: the model does not return one tensor.

    >>> both = lambda windows: torch.cat((windows, -windows), dim=1)
    >>> sliding_window_logits(both, torch.full((1, 10, 7), 2.0), (4, 4)).unique().tolist()
    [-2.0, 2.0]
    """
    request = WindowRequest(tuple(window), overlap, sigma, batch, tuple(mirror_axes), divisor)
    request.check_image(image)
    where = image.device if device is None else torch.device(device)
    if where.type == "cpu":  # sums and result in one: nothing is held twice
        for _, _, sums in _finish_rows(model, image, request, where, AllRows):
            whole = sums.values
        return _cut(whole, image, request).contiguous()
    return _joined(_cpu_slabs(model, image, request, where), image)


def iterate_slabs(
    model: Model,
    image: Tensor,
    window: tuple[int, ...],
    *,
    overlap: float = 0.5,
    sigma: float = 0.125,
    batch: int = 1,
    mirror_axes: tuple[int, ...] = (),
    device: Device = None,
    divisor: tuple[int, ...] | int = 1,
) -> Iterator[tuple[slice, Tensor]]:
    """Return the same logits in slabs along the first axis, in order and without gaps.

    A slab comes as soon as no further window reaches it. Beside the image, K + 1 numbers for each
    voxel in the rows of one window are kept. Arguments and errors are those of
    `sliding_window_logits`.

    Returns:
        An iterator over the rows of S and their logits (K, rows, ...), float32, on the CPU.

    >>> slabs = iterate_slabs(lambda windows: windows, torch.ones(1, 10, 7), (4, 4))
    >>> [(rows.start, rows.stop, tuple(logits.shape)) for rows, logits in slabs]
    [(0, 2, (1, 2, 7)), (2, 4, (1, 2, 7)), (4, 6, (1, 2, 7)), (6, 10, (1, 4, 7))]
    """
    request = WindowRequest(tuple(window), overlap, sigma, batch, tuple(mirror_axes), divisor)
    request.check_image(image)
    where = image.device if device is None else torch.device(device)
    return _cpu_slabs(model, image, request, where)


def _cpu_slabs(
    model: Model, image: Tensor, request: WindowRequest, device: torch.device
) -> Iterator[tuple[slice, Tensor]]:
    make_sums = partial(RollingRows, kept=request.window[0])
    for start, stop, sums in _finish_rows(model, image, request, device, make_sums):
        # Where rows were padded, all of them come at once.
        rows = slice(start, min(stop, image.shape[1]))
        slab = _cut(sums.rows(start, stop), image, request)
        yield rows, slab.to("cpu", copy=True, memory_format=torch.contiguous_format)


def _joined(slabs: Iterator[tuple[slice, Tensor]], image: Tensor) -> Tensor:
    """Return slabs as one, without holding all of them twice."""
    rows, slab = next(slabs)
    logits = slab.new_empty((len(slab), *image.shape[1:]))
    logits[:, rows] = slab
    for rows, slab in slabs:
        logits[:, rows] = slab
    return logits


def _finish_rows(
    model: Model,
    image: Tensor,
    request: WindowRequest,
    device: torch.device,
    make_sums: Callable[[int, tuple[int, ...], torch.device], AllRows],
) -> Iterator[tuple[int, int, AllRows]]:
    """Yield (start, stop, sums) of rows that no further window reaches, sums turned into means."""
    window = request.window
    shape = tuple(max(n, w) for n, w in zip(image.shape[1:], window, strict=True))
    weights = gaussian_weights(window, request.sigma).to(device)
    totals = RollingRows(1, shape, device, kept=window[0])
    sums: AllRows | None = None
    done = 0

    def means(stop: int) -> tuple[int, int, AllRows]:
        assert sums is not None
        sums.rows(done, stop).div_(totals.rows(done, stop))
        return done, stop, sums

    for place, logits in window_logits(model, image, request, device):
        if sums is None:
            sums = make_sums(len(logits), shape, device)
        if place[0] > done:
            yield means(place[0])
            done = place[0]
            sums.forget(done)
            totals.forget(done)
        sums.box(place, window).addcmul_(logits, weights)
        totals.box(place, window).add_(weights)
    yield means(shape[0])


def _cut(logits: Tensor, image: Tensor, request: WindowRequest) -> Tensor:
    """Return a view of what is left without the padding."""
    for axis, (before, after) in enumerate(margins(image.shape[1:], request.window), start=1):
        if before or after:
            logits = logits.narrow(axis, before, image.shape[axis])
    return logits
