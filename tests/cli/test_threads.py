"""--threads reaches the libraries that ask but once."""

import os
import subprocess
import sys

import pytest

# The command is refused after its options were read, before anything is computed.
ASKS = """
from typer.testing import CliRunner
from gradsurge.cli import app
CliRunner().invoke(app, {arguments!r})
import numpy
from threadpoolctl import threadpool_info
import os
told = os.environ["OPENBLAS_NUM_THREADS"]
print(told, *(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"))
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ["reproduce", "nosuch"],
        ["search", "nosuch", "--loss", "dice"],
        ["train", "nosuch", "--loss", "dice", "--out", "run"],
        ["demo", "--preset", "2d", "--data", "nosuch"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_one_thread_is_one_of_blas(arguments, tmp_path):
    command, *others = arguments
    code = ASKS.format(arguments=[command, "--threads", "1", *others])
    free = {name: value for name, value in os.environ.items() if "NUM_THREADS" not in name}
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=free,
        check=True,
    )
    assert set(done.stdout.split()) == {"1"}
