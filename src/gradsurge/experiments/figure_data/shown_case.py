"""What a picture of a case needs besides the network: image, label, slice and window."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from gradsurge.data.store import Store
from gradsurge.experiments.figure_data.confident_errors import CONFIDENT, Mark, find_marks
from gradsurge.experiments.figure_data.slices import Slice, fullest_slice, numbered_slice
from gradsurge.experiments.figure_data.windows import Window, fullest_window, marks_reach

_COLOUR_CHANNELS = ("red", "green", "blue")


@dataclass(frozen=True)
class ShownCase:
    """A slice of a case, all arrays (H, W).

    Attributes:
        case: its name.
        structure: that is looked at.
        cut: the slice.
        image: the first channel (H, W), or colours (3, H, W), as stored.
        label: where the structure is.
        errors: |y - p| of the first network.
        marks: where its confident errors crowd, inside of the window.
        window: the part of the slice with most of them.
    """

    case: str
    structure: str
    cut: Slice
    image: NDArray[np.float32]
    label: NDArray[np.bool_]
    errors: NDArray[np.float32]
    marks: tuple[Mark, ...]
    window: Window


def show_case(
    store: Store, case: str, structure: str, errors: Tensor, label: Tensor, number: int | None
) -> ShownCase:
    """Cut a case where its confident errors are, or at a slice of a given number.

    Args:
        store: where the case is.
        case: its name.
        structure: that is looked at.
        errors: |y - p| of it, (*S).
        label: where it is, bool (*S).
        number: of the slice, from 1; None for the one with the most confident errors.

    Raises:
        ValueError: there is no such slice.
    """
    spacing = store.case(case).spacing
    e = errors.float().numpy()
    if number is None:
        cut = fullest_slice(_interest(e), spacing)
    else:
        cut = numbered_slice(number, e.shape, spacing)
    error, truth = cut.plane(e), cut.plane(label.numpy())
    window = fullest_window(_interest(error), cut.aspect)
    marks = _marks(error, truth, window, cut.aspect)
    return ShownCase(case, structure, cut, _image(store, case, cut), truth, error, marks, window)


def _marks(
    error: NDArray[np.float32], label: NDArray[np.bool_], window: Window, aspect: float
) -> tuple[Mark, ...]:
    """Return the marks of a window that are wholly inside of it; if there are none, all."""
    reach = marks_reach(window, aspect)
    inner = Window(
        window.top + reach[0],
        window.bottom - reach[0],
        window.left + reach[1],
        window.right - reach[1],
    )
    for part in (inner, window):
        found = find_marks(part.cut(error), part.cut(label), reach)
        if found:
            return tuple(Mark(m.row + part.top, m.column + part.left, m.missed) for m in found)
    return ()


def _interest(error: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the confident errors; where there are none, all."""
    confident = error >= CONFIDENT
    return confident.astype(np.float32) if confident.any() else error


def _image(store: Store, case: str, cut: Slice) -> NDArray[np.float32]:
    image = store.case(case).read_image()
    names = tuple(name.lower() for name in store.dataset.channel_names)
    return cut.plane(image if names == _COLOUR_CHANNELS else image[0])
