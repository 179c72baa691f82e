"""SIGKILL at random moments, then resume: the bits of the unbroken run."""

import dataclasses
import multiprocessing
import random
import signal
import time

import torch

from gradsurge.training import TrainingError, read_checkpoint, train
from gradsurge.training.observers import MetricsFile
from tests.training.same_state import assert_same_run
from tests.training.small_job import SETTINGS, CountingLoss, blend, small_job

KILLS = 6
LONGER = dataclasses.replace(SETTINGS, steps=150, validate_every=15, checkpoint_every=4)


def run(folder):
    """What a child process does; the parent kills it."""
    from gradsurge.training import make_fabric

    torch.set_num_threads(1)
    loss = CountingLoss()
    job = small_job(folder, LONGER, loss=loss, before_step=blend(loss), observers=[MetricsFile()])
    try:
        train(job, make_fabric("cpu"))
    except TrainingError as error:  # an exit code tells the parent
        raise SystemExit(str(error)) from error


def start(folder):
    """Start a process; a server has torch and Fabric imported already, so it takes no time."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["lightning_fabric", "gradsurge.training", __name__])
    process = context.Process(target=run, args=(folder,))
    process.start()
    return process


def progress(folder):
    try:
        return (folder / "metrics.jsonl").stat().st_size
    except FileNotFoundError:
        return 0


def wait_for_more(folder, process, size):
    end = time.monotonic() + 60
    while progress(folder) == size and process.is_alive() and time.monotonic() < end:
        time.sleep(0.002)


def test_sigkill_at_random_moments(tmp_path):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    unbroken = start(whole)
    unbroken.join(120)
    assert unbroken.exitcode == 0
    rng = random.Random()  # other moments every time: all must do
    ends = []
    for _ in range(KILLS):
        process = start(broken)
        wait_for_more(broken, process, progress(broken))
        time.sleep(rng.uniform(0.0, 0.15))
        process.kill()
        process.join()
        ends.append(process.exitcode)
    assert -signal.SIGKILL in ends
    final = start(broken)
    final.join(120)
    assert final.exitcode == 0
    assert read_checkpoint(broken / "last.pt").step == LONGER.steps
    assert_same_run(whole, broken)
    assert not [f.name for f in broken.iterdir() if f.name.startswith(".")]
