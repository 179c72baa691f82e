"""Streams of batches: the same whoever makes them, and gone when they end."""

import os
import pickle
import shutil
import signal
import subprocess
import sys
import time

import numpy as np
import psutil
import pytest
import torch

from gradsurge.data.case_error import CaseError
from gradsurge.data.patches import PatchSettings, PatchSource, stream_batches
from gradsurge.data.patches.worker import report_unless_main_left
from gradsurge.data.store import Store
from tests.data.patches.stores import phantom_store

STEPS = 5


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return phantom_store(tmp_path_factory.mktemp("phantoms"), "organs-3d", 4, (40, 36, 32))


@pytest.fixture(scope="module")
def source(store):
    settings = PatchSettings((20, 24, 16), batch=3)
    return PatchSource(store, store.cases, settings, "nnunet", extras=["posterior"])


def content(batch):
    tensors = [batch["image"], batch["label"], batch["extras"]["posterior"]]
    return [*(t.numpy().tobytes() for t in tensors), batch["case"]]


def run(source, seed=0, start=0, stop=STEPS, **options):
    return [content(batch) for batch in stream_batches(source, seed, start, stop, **options)]


@pytest.fixture(scope="module")
def expected(source):
    return run(source)


def workers():
    return [p for p in psutil.Process().children(recursive=True) if p.status() != "zombie"]


def wait_until_gone(processes, seconds=10):
    _, alive = psutil.wait_procs(processes, timeout=seconds)
    return not alive


@pytest.mark.parametrize("number", [1, 2, 3])
def test_the_number_of_workers_changes_nothing(source, expected, number):
    if number > len(os.sched_getaffinity(0)):
        pytest.skip(f"torch warns of {number} workers on fewer cores")
    assert run(source, workers=number) == expected


@pytest.mark.parametrize("number", [0, 2])
def test_a_stream_resumes_at_any_step(source, expected, number):
    for start in (1, 4):
        assert run(source, start=start, workers=number) == expected[start:]


def test_a_reopened_store_gives_the_same(store, source, expected):
    again = PatchSource(
        Store.open(store.path), store.cases, source.settings, "nnunet", ["posterior"]
    )
    assert run(again) == expected


def test_seeds_and_steps_differ(source, expected):
    assert all(a != b for a, b in zip(run(source, seed=1), expected, strict=True))
    assert len({images for images, *_ in expected}) == STEPS


def test_a_source_can_be_sent_to_workers_that_are_not_forked(source, expected):
    sent = pickle.loads(pickle.dumps(source))
    assert content(sent.batch(0, 2)) == expected[2]


def test_parts_of_a_stream_are_parts_of_its_batches(source, expected):
    parts = [list(stream_batches(source, 0, 0, 2, part=(i, 3))) for i in range(3)]
    names = [name for part in parts for name in part[1]["case"]]
    assert names == expected[1][-1]


@pytest.mark.parametrize("number", [0, 1])
def test_the_training_around_it_keeps_its_random_numbers(source, number):
    torch.manual_seed(0)
    before = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002 # looked at
    run(source, stop=2, workers=number)
    assert torch.equal(torch.get_rng_state(), before[0])
    np.testing.assert_array_equal(np.random.get_state()[1], before[1])  # noqa: NPY002 # same


def test_a_stream_without_end_goes_on(source):
    stream = stream_batches(source, 0, 10**9)
    assert [next(stream)["image"].shape[0] for _ in range(3)] == [3, 3, 3]


@pytest.mark.parametrize("end", ["exhausted", "closed", "forgotten"])
def test_workers_end_with_the_stream(source, end):
    before = set(workers())
    stream = stream_batches(source, 0, 0, 2 if end == "exhausted" else None, workers=2)
    next(stream)
    started = [p for p in workers() if p not in before]
    assert len(started) == 2
    if end == "exhausted":
        list(stream)
    elif end == "closed":
        stream.close()
    del stream
    assert wait_until_gone(started)


ENDLESS = """
import sys
from gradsurge.data.patches import PatchSettings, PatchSource, stream_batches
from gradsurge.data.store import Store

store = Store.open(sys.argv[1])
source = PatchSource(store, store.cases, PatchSettings((16, 16, 16), batch=2), "light")
for batch in stream_batches(source, 0, workers=2):
    print("batch", flush=True)
"""


def test_no_worker_outlives_ctrl_c(store, tmp_path):
    """After SIGKILL they end too, but only look after their parent every five seconds."""
    errors = tmp_path / "errors"
    with (
        errors.open("w") as file,
        subprocess.Popen(
            [sys.executable, "-c", ENDLESS, str(store.path)],
            stdout=subprocess.PIPE,
            stderr=file,
            text=True,
            start_new_session=True,
        ) as process,
    ):
        assert process.stdout.readline() == "batch\n"
        children = psutil.Process(process.pid).children(recursive=True)
        assert len(children) >= 2
        os.killpg(process.pid, signal.SIGINT)  # the workers get it too
    assert wait_until_gone(children)
    said = errors.read_text()
    assert said.count("Traceback") == 1, said  # that of the main process


def test_workers_leave_ctrl_c_to_the_main_process(source, expected):
    before = set(workers())
    stream = stream_batches(source, 0, 0, STEPS, workers=2)
    found = [content(next(stream))]
    for worker in set(workers()) - before:
        worker.send_signal(signal.SIGINT)
    time.sleep(0.2)
    assert found + [content(batch) for batch in stream] == expected


@pytest.mark.parametrize(
    ("error", "said"), [(ConnectionResetError(104, "reset"), ""), (KeyError("lost"), "lost")]
)
def test_a_worker_reports_all_but_that_the_main_process_left(capsys, error, said):
    report_unless_main_left(type(error), error, None)
    printed = capsys.readouterr().err
    assert said in printed
    assert bool(printed) == bool(said)


@pytest.mark.parametrize("number", [0, 1])
def test_a_damaged_case_is_named_in_one_line(store, tmp_path, number):
    shutil.copytree(store.path, tmp_path / "store")
    damaged = Store.open(tmp_path / "store")
    (tmp_path / "store" / "cases" / damaged.cases[0] / "image.b2nd").write_bytes(b"nothing")
    source = PatchSource(damaged, damaged.cases, PatchSettings((16, 16, 16), batch=4), "light")
    before = set(workers())
    with pytest.raises(CaseError, match=r"image\.b2nd: damaged") as caught:
        next(stream_batches(source, 0, workers=number))
    assert "\n" not in str(caught.value)
    assert damaged.cases[0] in str(caught.value)
    del caught
    assert wait_until_gone([p for p in workers() if p not in before])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": -1}, "seed: expected a whole number of 0 or above, got -1"),
        ({"start_step": 1.5}, r"start_step: .* got 1\.5"),
        ({"workers": -2}, "workers: .* got -2"),
        (
            {"start_step": 5, "stop_step": 4},
            r"stop_step: expected 5 \(start_step\) or above, got 4",
        ),
        ({"part": (2, 2)}, r"part: expected \(i, n\) with 0 <= i < n <= 3 \(batch\), got \(2, 2\)"),
        ({"part": (0, 4)}, r"part: .* got \(0, 4\)"),
    ],
)
def test_bad_arguments_are_refused_at_once(source, change, message):
    with pytest.raises(ValueError, match=message):
        stream_batches(source, **{"seed": 0, **change})


def test_batches_are_made_ahead(source):
    """A worker goes on while the caller is busy: the next batch is there at once."""
    stream = stream_batches(source, 0, workers=1)
    next(stream)
    time.sleep(1.0)
    start = time.perf_counter()
    next(stream)
    waited = time.perf_counter() - start
    stream.close()
    assert waited < 0.5
