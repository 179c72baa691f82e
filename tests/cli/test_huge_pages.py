"""Commands have torch's large tensors mapped in pieces of 2 MB, unless they are told not to."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

# After a command of any kind: does Linux know that the tensor's memory wants huge pages?
ASKS = """
import contextlib, sys
from gradsurge.cli import main
sys.argv = ["gradsurge", "--version"]
with contextlib.suppress(SystemExit):
    main()
import torch
tensor = torch.ones(1 << 24)
address = tensor.data_ptr()
here = False
for line in open("/proc/self/smaps"):
    first, *flags = line.split()
    if "-" in first:
        start, end = (int(bound, 16) for bound in first.split("-"))
        here = start <= address < end
    elif here and first == "VmFlags:":
        print("hg" in flags)
"""


@pytest.mark.skipif(
    not Path("/sys/kernel/mm/transparent_hugepage").exists(), reason="this system has none"
)
@pytest.mark.parametrize(
    ("typed", "asked"), [({}, "True"), ({"THP_MEM_ALLOC_ENABLE": "0"}, "False")]
)
def test_large_tensors(typed, asked):
    clean = {name: value for name, value in os.environ.items() if name != "THP_MEM_ALLOC_ENABLE"}
    done = subprocess.run(
        [sys.executable, "-c", ASKS],
        capture_output=True,
        text=True,
        env=clean | typed,
        check=True,
    )
    assert done.stdout.split()[-1] == asked
