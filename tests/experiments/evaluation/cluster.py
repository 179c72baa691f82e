"""A Dask cluster of real processes on this machine, as an administrator starts one."""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager


def _start(folder, program, *arguments):
    return subprocess.Popen(
        [sys.executable, "-m", f"distributed.cli.{program}", *arguments, "--no-dashboard"],
        cwd=folder,  # not where the tests run: relative paths must not matter
        env=os.environ
        | {
            "PYTHONPATH": os.pathsep.join(sys.path),
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "0",
            "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "2s",  # to a worker that died
        },
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@contextmanager
def dask_cluster(folder, workers):
    """Start a scheduler and workers; yield the address, and end them all."""
    file = folder / "scheduler.json"
    at = ("--scheduler-file", str(file))
    processes = [_start(folder, "dask_scheduler", "--host", "127.0.0.1", "--port", "0", *at)]
    try:
        if workers:
            number = ("--nthreads", "1", "--nworkers", str(workers))
            processes.insert(0, _start(folder, "dask_worker", *at, *number))
        deadline = time.monotonic() + 60
        while not (file.exists() and file.read_text().strip()):
            assert time.monotonic() < deadline, "the scheduler did not start"
            time.sleep(0.05)
        yield json.loads(file.read_text())["address"]
    finally:
        for process in processes:
            os.killpg(process.pid, signal.SIGKILL)  # with the workers that it started
            process.wait(30)
