"""Two gloo processes, started for real."""

import json
import os
import subprocess
import sys
from pathlib import Path

RANKS = 2
# A rank that is done, or has failed, ends at once: when torch takes gloo down it may hold the lock
# that gloo's own thread waits for, and both wait for ever.
_RANK = """
import os, sys, traceback
failed = 0
try:
    from {module} import on_rank
    on_rank(int(sys.argv[1]), sys.argv[2])
except BaseException:
    traceback.print_exc()
    failed = 1
sys.stdout.flush()
sys.stderr.flush()
os._exit(failed)
"""


def run_ranks(module, folder):
    """Run ``on_rank(rank, folder)`` of a module in two processes; return what each wrote."""
    root = Path(__file__).parents[1]
    code = _RANK.format(module=module)
    paths = os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(rank), str(folder)],
            env=environment,
            cwd=root,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(RANKS)
    ]
    try:
        outputs = [process.communicate(timeout=300)[0] for process in processes]
    finally:
        for process in processes:
            process.kill()
    for process, output in zip(processes, outputs, strict=True):
        assert process.returncode == 0, output
    return [json.loads(Path(folder, f"{rank}.json").read_text()) for rank in range(RANKS)]


def write(folder, rank, scores):
    """Leave a rank's scores where `run_ranks` looks for them."""
    found = {name: value.item() for name, value in scores.items()}
    Path(folder, f"{rank}.json").write_text(json.dumps(found))
