"""Orders to nnU-Net, which lives in another interpreter: `_nnunet_side.py` carries them out."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

Order = Callable[..., dict[str, Any]]


@contextmanager
def nnunet_side(python: Path, work: Path) -> Iterator[Order]:
    """Start the other interpreter, and give orders to it."""
    folders = {f"nnUNet_{kind}": str(work / kind) for kind in ("raw", "preprocessed", "results")}
    settings = {"nnUNet_compile": "0", "nnUNet_n_proc_DA": "1", **folders}
    log = (work / "nnunet.log").open("w")
    process = subprocess.Popen(
        [str(python), str(Path(__file__).with_name("_nnunet_side.py"))],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        text=True,
        env={**os.environ, **settings},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    orders, answers = process.stdin, process.stdout

    def order(do: str, **arguments: Any) -> dict[str, Any]:
        orders.write(json.dumps({"do": do, **arguments}) + "\n")
        orders.flush()
        line = answers.readline()
        if not line:
            sys.exit(
                f"nnU-Net's side stopped at {do}:\n{(work / 'nnunet.log').read_text()[-2000:]}"
            )
        answer: dict[str, Any] = json.loads(line)
        return answer

    try:
        yield order
    finally:
        orders.close()
        process.wait()
        log.close()
