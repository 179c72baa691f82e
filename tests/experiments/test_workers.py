"""The same function in this process, in several, and on a Dask cluster of real processes."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gradsurge.experiments import workers
from gradsurge.experiments.workers import WorkerError, each_in_order
from tests.experiments.evaluation.cluster import dask_cluster


def slow_square(n):
    time.sleep(0.05 if n % 3 == 0 else 0.0)  # so that others overtake
    if n == 99:
        raise KeyError(n)
    return n * n, os.getpid()


def die_on_seven(n):
    if n == 7:
        os._exit(9)
    return n


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with dask_cluster(tmp_path_factory.mktemp("dask"), workers=2) as address:
        yield address


def test_one_process_is_this_one():
    results = each_in_order(slow_square, [0, 1, 2, 99])
    assert [next(results) for _ in range(3)] == [(n * n, os.getpid()) for n in range(3)]
    with pytest.raises(KeyError, match="99"):
        next(results)


def test_zero_jobs_are_as_many_as_cores(monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    assert list(each_in_order(slow_square, [3], jobs=0)) == [(9, os.getpid())]


def assert_in_order_and_bounded(read, results, most):
    """Results come in order from other processes, few wait in memory, and errors come through."""
    first, *rest = (next(results) for _ in range(20))
    values, processes = zip(first, *rest, strict=True)
    assert list(values) == [n * n for n in range(20)]
    assert os.getpid() not in processes
    assert len(set(processes)) == 2
    assert len(read) <= 20 + most
    with pytest.raises(KeyError, match="99"):
        list(results)


def noted(read):
    for n in [*range(80), 99]:
        read.append(n)
        yield n


def test_several_processes():
    read = []
    results = each_in_order(slow_square, noted(read), jobs=2)
    assert_in_order_and_bounded(read, results, 2 * workers._WAITING)


def test_a_cluster(cluster):
    read = []
    results = each_in_order(slow_square, noted(read), dask=cluster)
    assert_in_order_and_bounded(read, results, 2 * workers._WAITING)


WATCHED = """
import os, sys, time
from gradsurge.experiments.workers import each_in_order
from tests.experiments.test_workers import tell_then_sleep
try:
    list(each_in_order(tell_then_sleep, [sys.argv[1]] * 2, jobs=2))
except KeyboardInterrupt:
    print("interrupted")
"""


def tell_then_sleep(folder):
    (Path(folder) / str(os.getpid())).touch()
    time.sleep(120)


def is_running(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs Linux to look at processes")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_workers_end_with_their_parent(tmp_path, number):
    command = [sys.executable, "-c", WATCHED, str(tmp_path)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as parent:
        deadline = time.monotonic() + 60
        while len(list(tmp_path.iterdir())) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.05)
        started = [int(file.name) for file in tmp_path.iterdir()]
        assert all(map(is_running, started))
        if number == signal.SIGINT:
            os.killpg(parent.pid, number)  # a terminal sends it to all
        else:
            parent.send_signal(number)
        said, complaints = parent.communicate(timeout=30)
    deadline = time.monotonic() + 5
    while any(map(is_running, started)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(is_running, started))
    if number == signal.SIGINT:
        assert (said, complaints) == ("interrupted\n", "")


def test_a_reader_that_stops_stops_the_workers(tmp_path):
    results = each_in_order(write_then_wait, [(tmp_path, n) for n in range(40)], jobs=2)
    next(results)
    start = time.monotonic()
    results.close()
    assert time.monotonic() - start < 5  # not the 20 seconds of what was waiting


def write_then_wait(task):
    folder, n = task
    if n:
        time.sleep(10)
    return folder


def test_a_process_that_dies_is_one_line_with_advice():
    with pytest.raises(WorkerError, match=r"died.*memory.*-j") as caught:
        list(each_in_order(die_on_seven, range(20), jobs=2))
    assert len(str(caught.value).splitlines()) == 1


def test_a_worker_of_the_cluster_that_dies_is_one_line_with_advice(cluster):
    with pytest.raises(WorkerError, match=r"died.*memory") as caught:
        list(each_in_order(die_on_seven, range(20), dask=cluster))
    assert len(str(caught.value).splitlines()) == 1


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("127.0.0.1:9", "127.0.0.1:9"),
        ("nowhere", "port"),
        ("carrier-pigeon://roof:1", "scheme"),
        ("", "port"),
    ],
)
def test_a_wrong_address_is_one_line_soon(address, reason, monkeypatch):
    monkeypatch.setattr(workers, "_ANSWER_SECONDS", 0.3)
    start = time.monotonic()
    expected = re.escape(f"no Dask scheduler answers at {address}")
    with pytest.raises(WorkerError, match=expected) as caught:
        list(each_in_order(abs, [1], dask=address))
    assert reason in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1
    assert time.monotonic() - start < 10


def test_another_server_is_no_scheduler(monkeypatch):
    monkeypatch.setattr(workers, "_ANSWER_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(WorkerError, match="no Dask scheduler answers"):
            list(each_in_order(abs, [1], dask=address))


def test_a_scheduler_without_workers_says_so(tmp_path, monkeypatch):
    monkeypatch.setattr(workers, "_WORKER_SECONDS", 0.3)
    with (
        dask_cluster(tmp_path, workers=0) as address,
        pytest.raises(WorkerError, match=f"no workers; start one with: dask worker {address}"),
    ):
        list(each_in_order(abs, [1], dask=address))
