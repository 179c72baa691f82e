"""The metrics as they are defined, in plain float64 loops, and inputs that are hard on them."""

import math
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

RESOLUTION = 25200


def gaps(p, y, bins, edges=None):
    """Return (count, |mean p - frequency|) of the bins (lo, hi] that are not empty."""
    edges = [k / bins for k in range(1, bins + 1)] if edges is None else edges
    groups = [[] for _ in edges]
    for probability, outcome in zip(p, y, strict=True):
        # NumPy would compare a float32 with an edge rounded to float32.
        exact = probability if isinstance(probability, Fraction) else float(probability)
        chosen = next(k for k, hi in enumerate(edges) if exact <= hi)
        groups[chosen].append((float(probability), int(outcome)))
    return [_gap(group) for group in groups if group]


def _gap(group):
    excess = math.fsum([p for p, _ in group] + [-float(y) for _, y in group])
    return len(group), abs(excess) / len(group)


def ece(p, y, bins):
    return math.fsum(n * gap for n, gap in gaps(p, y, bins)) / len(p)


def ace(p, y, bins):
    found = gaps(p, y, bins)
    return math.fsum(gap for _, gap in found) / len(found)


def mce(p, y, bins, minimum=1):
    return max((gap for n, gap in gaps(p, y, bins) if n >= minimum), default=math.nan)


def equal_mass_ece(p, y, bins):
    """Sort, cut into bins of equal number (np.array_split), average the gaps."""
    order = np.argsort(p, kind="stable")
    pieces = np.array_split(order, bins)
    excess = [math.fsum(np.asarray(p, float)[i]) - float(np.sum(y[i])) for i in pieces]
    return math.fsum(map(abs, excess)) / len(p)


def top_label_ece(p, y, bins):
    """Binary, with rational confidences: a float64 on an edge k/R stands for the edge."""
    edges = [Fraction(k, bins) for k in range(1, bins + 1)]
    confidence, right = [], []
    for probability, outcome in zip(p, y, strict=True):
        exact = on_the_edge(float(probability))
        foreground = exact > Fraction(1, 2)
        confidence.append(exact if foreground else 1 - exact)
        right.append(foreground == bool(outcome))
    return math.fsum(n * gap for n, gap in gaps(confidence, right, bins, edges)) / len(p)


def on_the_edge(value):
    step = round(value * RESOLUTION)
    return Fraction(step, RESOLUTION) if step / RESOLUTION == value else Fraction(value)


def dice(p, y, threshold):
    marked = np.asarray(p) > threshold
    return 2 * np.sum(marked & y) / (np.sum(marked) + np.sum(y))


def segmentation(voxels=4000, seed=0, dtype=np.float32):
    """Look like a network: most voxels sure background, some sure foreground, a blurred border."""
    rng = np.random.default_rng(seed)
    logits = np.where(rng.random(voxels) < 0.1, 6.0, -9.0) + rng.normal(0, 4, voxels)
    truth = rng.random(voxels) < 1 / (1 + np.exp(-0.7 * logits - 0.3))
    return (1 / (1 + np.exp(-logits))).astype(dtype), truth


_VALUES = {
    "uniform": lambda rng, n: rng.random(n),
    "low tail": lambda rng, n: 10.0 ** rng.uniform(-30, -3, n),
    "high tail": lambda rng, n: 1.0 - 10.0 ** rng.uniform(-7.5, -3, n),
    "saturated": lambda rng, n: rng.integers(0, 2, n).astype(float),
    "8 bit": lambda rng, n: rng.integers(0, 256, n) / 255,
    "edges": lambda rng, n: rng.integers(0, 16, n) / 15,
    "fine edges": lambda rng, n: rng.integers(0, RESOLUTION + 1, n) / RESOLUTION,
    "next to edges": lambda rng, n: np.nextafter(
        rng.integers(1, 100, n) / 100, rng.integers(0, 2, n)
    ),
    "half": lambda rng, n: np.full(n, 0.5),
    "one fine bin": lambda rng, n: 0.3 + rng.random(n) / RESOLUTION,
    "one tail bin": lambda rng, n: 1e-6 * (1 + rng.random(n) / 64),
}


@st.composite
def hard_pairs(draw, most=60):
    """Draw probabilities of several nasty families, with ties, and outcomes of any dependence."""
    families = draw(st.lists(st.sampled_from(sorted(_VALUES)), min_size=1, max_size=3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    size = draw(st.integers(1, most))
    p = np.concatenate([_VALUES[name](rng, size) for name in families])
    p = rng.choice(p, p.size) if draw(st.booleans()) else p
    p = p.astype(draw(st.sampled_from([np.float32, np.float64])))
    rate = draw(st.sampled_from([None, 0.0, 0.05, 0.5, 1.0]))
    return p, rng.random(p.size) < (p if rate is None else rate)
