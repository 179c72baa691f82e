"""Threads of the computation: torch's, and those of NumPy's BLAS."""

import os
import sys

LIBRARIES_ASK = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
"""Names that they look up when they are loaded."""


def limit_threads(threads: int | None) -> int | None:
    """Tell torch and the libraries that are not loaded yet; None for what they choose themselves.

    OpenBLAS cannot be told later: with a thread for each core in every process, two processes on
    two cores wait for each other's, and resampling takes several times as long.

    Returns:
        What it got, as callbacks of typer's options do.
    """
    if threads is not None:
        os.environ.update(dict.fromkeys(LIBRARIES_ASK, str(threads)))
        if "torch" in sys.modules:  # it has asked already, and can be told again
            sys.modules["torch"].set_num_threads(threads)
    return threads
