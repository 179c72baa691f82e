"""The one pass over the voxels that fills a histogram.

Most voxels of a medical image are background with a probability below 1/R: "quiet" ones, of which
the histogram needs a count, two sums and the leading bits, but no place among the uniform bins and
no logarithm.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch
from numpy.typing import NDArray

from gradsurge.calibration.histogram import Flags, Histogram

PART = 1 << 21  # pairs that are counted by themselves; parts are added in their order
QUIET = 4e-5  # below this, two terms of -log(1-p) leave 2e-14


def fill(histogram: Histogram, p: NDArray[np.floating], y: Flags, nll: float | None = None) -> None:
    """Count flat arrays of probabilities in [0, 1] (float32 or float64) and outcomes.

    The result does not depend on the number of threads.

    Args:
        histogram: grows in place.
        p: probabilities of the outcome yes.
        y: outcomes.
        nll: the sum of -log P(y), where it is known better than p can tell: from logits.
    """
    before, clipped = histogram.nll, histogram.clipped

    def part(start: int) -> Histogram:
        piece = slice(start, start + PART)
        return _part(p[piece], y[piece], histogram.resolution)

    starts = range(0, p.size, PART)
    threads = min(torch.get_num_threads(), len(starts))
    if threads <= 1:
        for start in starts:
            histogram += part(start)
    else:
        # A pool a call, not a lasting one: its threads would not survive a fork of the process.
        with ThreadPoolExecutor(threads) as pool:
            for found in pool.map(part, starts):
                histogram += found
    if nll is not None:
        histogram.nll, histogram.clipped = before + nll, clipped


def _part(p: NDArray[np.floating], y: Flags, resolution: int) -> Histogram:
    from gradsurge.calibration.kernel import BLOCK, Tables, count_pairs  # numba: 0.3 s

    found, totals = Histogram(resolution), np.zeros(5)
    upper, bins = np.arange(1, resolution + 1) / resolution, np.zeros((2, resolution, 2))
    tables = Tables(upper, bins, found.edges, found.tails, np.empty(BLOCK), np.empty(BLOCK))
    bits = p.astype(np.float32, copy=False).view(np.uint32)
    quiet = np.float32(min(QUIET, 1.0 / resolution)).view(np.uint32)
    count_pairs(p, bits, y.view(np.uint8), quiet, tables, totals)
    found.counts[...] = bins[..., 0]
    found.sums[...] = bins[..., 1] + bins[..., 0] * upper
    found.nll, found.squares, found.clipped = float(totals[0]), float(totals[1]), int(totals[2])
    found.sums[0, 0] += totals[3]
    found.counts[0, 0] += int(totals[4])
    return found
