"""What hypothesis draws: logits, labels, dL/dp and the parameters of the surgery."""

from dataclasses import dataclass

import numpy as np
import torch
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from torch import Tensor

# The same examples every time; a test that fails here fails everywhere.
checked = settings(deadline=None, max_examples=50, derandomize=True)

PAPER_EXPONENTS = (1, 2, 5, 20, 40, 60, 80, 100, 200, 1000)  # its table 3
declines = st.one_of(
    st.none(), st.sampled_from(PAPER_EXPONENTS), st.integers(1, 100), st.floats(0.2, 100.0)
)
scales = st.floats(0.05, 2.0)
normalisations = st.sampled_from([True, False, "batch"])
from_two_to_six = st.integers(2, 6)
blends = st.one_of(st.just(1.0), st.just(0.0), st.floats(0.0, 1.0))


@dataclass(frozen=True)
class Case:
    """A batch in float64 and the loss's dL/dp on it."""

    logits: Tensor
    target: Tensor
    g: Tensor


def _array(draw: st.DrawFn, shape: tuple[int, ...], bound: float) -> Tensor:
    values = st.floats(-bound, bound, allow_subnormal=False)
    return torch.from_numpy(draw(hnp.arrays(np.float64, shape, elements=values)))


@st.composite
def softmax_cases(
    draw: st.DrawFn, classes: st.SearchStrategy[int] = from_two_to_six, bound: float = 30.0
) -> Case:
    samples, c = draw(st.integers(1, 2)), draw(classes)
    spatial = draw(st.sampled_from([(1,), (5,), (2, 3), (2, 1, 2)]))
    labels = draw(hnp.arrays(np.int64, (samples, *spatial), elements=st.integers(0, c - 1)))
    shape = (samples, c, *spatial)
    return Case(_array(draw, shape, bound), torch.from_numpy(labels), _array(draw, shape, 3.0))


@st.composite
def sigmoid_cases(draw: st.DrawFn, *, soft: bool = False, bound: float = 30.0) -> Case:
    spatial = draw(st.sampled_from([(1,), (5,), (2, 3), (2, 1, 2)]))
    shape = (draw(st.integers(1, 2)), draw(st.integers(1, 3)), *spatial)
    if soft:
        labels = _array(draw, shape, 0.5) + 0.5
    else:
        labels = torch.from_numpy(draw(hnp.arrays(np.bool_, shape)))
    return Case(_array(draw, shape, bound), labels, _array(draw, shape, 3.0))


def field_of(operator, case: Case, target: Tensor | None = None, **options: object) -> Tensor:
    """Return what an operator sends back to the logits for dL/dp = g."""
    z = case.logits.clone().requires_grad_()
    p = operator(z, case.target if target is None else target, **options)
    return torch.autograd.grad(p, z, case.g)[0]
