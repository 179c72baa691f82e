"""What a phantom makes: an image, a label, and the posterior the label was drawn from."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class PhantomCase(NamedTuple):
    """One case.

    Attributes:
        name: phantom, seed and index, for file names.
        image: (C, *S).
        label: class numbers (*S), 0 is background.
        posterior: P(label = k | scene) of the foreground classes k = 1 .. K, (K, *S); multiples
            of 2⁻¹⁶, which float32 holds exactly.
        spacing: millimetres along each axis of S.
    """

    name: str
    image: NDArray[np.float32]
    label: NDArray[np.uint8]
    posterior: NDArray[np.float32]
    spacing: tuple[float, ...]
