"""``--threads`` of the commands that compute: torch's, and those of NumPy's BLAS."""

import os

LIBRARIES_ASK = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
"""Names that they look up when they are loaded."""


def limit_threads(threads: int | None) -> int | None:
    """Tell the libraries that are not loaded yet; returns what it got, as typer's callbacks do.

    Torch can be told later, OpenBLAS cannot: with a thread for each core in every process, two
    processes on two cores wait for each other's, and resampling takes several times as long.
    """
    if threads is not None:
        os.environ.update(dict.fromkeys(LIBRARIES_ASK, str(threads)))
    return threads
