"""Two processes, started by torchrun: the loss curve of one, and one will."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gradsurge.training import read_checkpoint, train
from gradsurge.training.observers import MetricsFile
from tests.training.same_state import assert_same_run, lines
from tests.training.small_job import SETTINGS, batch, small_job
from tests.training.two_ranks import model, parts


def torchrun(*arguments):
    root = Path(__file__).parents[2]
    two = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    return subprocess.run(
        [sys.executable, *two, *map(str, arguments)],
        cwd=root,
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture(scope="module")
def launched(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ranks")
    done = torchrun("-m", "tests.training.two_ranks", folder)
    assert done.returncode == 0, done.stderr
    ranks = [json.loads((folder / f"{rank}.json").read_text()) for rank in range(2)]
    assert [rank["world"] for rank in ranks] == [2, 2]
    return folder, ranks, done.stdout + done.stderr


def test_the_loss_curve_of_one_process(launched, fabric, tmp_path):
    folder, ranks, _ = launched
    job = small_job(tmp_path, model=model(), batches=parts(0, 1), observers=[MetricsFile()])
    end = train(job, fabric)
    one, two = lines(tmp_path), ranks[0]["lines"]
    assert len(one) == len(two) == SETTINGS.steps + 3
    for a, b in zip(one, two, strict=True):
        assert a.keys() == b.keys()
        for name in a.keys() - {"kind", "best"}:
            assert b[name] == pytest.approx(a[name], rel=1e-4), (a["step"], name)
    assert end.best.dice == pytest.approx(ranks[1]["whole"]["best"], rel=1e-6)
    kept = read_checkpoint(folder / "whole" / "last.pt")
    for name, value in job.model.state_dict().items():
        assert kept.model[name].numpy() == pytest.approx(value.numpy(), abs=1e-6)


def test_the_loss_is_the_mean_over_ranks(launched):
    """The first loss, from the initial weights, over all samples of both of its batches."""
    import torch

    _, ranks, _ = launched
    with torch.no_grad():
        whole = [
            torch.nn.functional.cross_entropy(model()(b["image"]), b["label"].long())
            for b in (batch(0), batch(1))
        ]
    assert ranks[0]["lines"][0]["loss"] == pytest.approx(float(sum(whole)) / 2, rel=1e-5)


def test_both_stop_when_one_is_asked_to(launched):
    folder, ranks, _ = launched
    for rank in ranks:
        assert (rank["stopped"]["reason"], rank["stopped"]["step"]) == ("interrupted", 5)
        assert rank["resumed"] == rank["whole"]
    assert_same_run(folder / "whole", folder / "broken")


def test_lost_data_of_one_stop_both(launched):
    folder, ranks, _ = launched
    assert ranks[0]["lost"] == ranks[1]["lost"]
    assert "no data for step 4: case_6_3: gone" in ranks[0]["lost"]["error"]
    assert "last.pt holds step 3" in ranks[0]["lost"]["error"]
    assert read_checkpoint(folder / "lost" / "last.pt").step == 3


def test_a_damaged_validation_case_of_one_stops_both_with_one_message(launched):
    folder, ranks, _ = launched
    message = ranks[0]["damaged"]["error"]
    assert ranks[1]["damaged"]["error"] == message
    assert "validation after step 4: case_9: image.b2nd: damaged" in message
    assert "last.pt holds step 4" in message
    assert read_checkpoint(folder / "damaged" / "last.pt").validated == -1


def test_a_strange_loss_of_one_names_the_cases_of_all(launched):
    _, ranks, _ = launched
    for rank in ranks:
        assert "the loss is not finite in step 5" in rank["nan"]["error"]
        assert sorted(rank["nan"]["cases"]) == sorted(batch(8)["case"] + batch(9)["case"])


def test_nothing_is_said_that_nobody_asked_for(launched):
    said = [line for line in launched[2].splitlines() if line.strip()]
    assert not [line for line in said if "arning" in line or "Initializing" in line], said


def test_ranks_leave_after_their_last_sum(tmp_path):
    """Without that, a thread of gloo that still has work aborts the interpreter."""
    script = tmp_path / "hasty.py"
    script.write_text(
        "import torch, torch.distributed as dist\n"
        "from gradsurge.training import make_fabric\n"
        "make_fabric('cpu')\n"
        "for _ in range(300):\n"
        "    work = dist.all_reduce(torch.ones(100_000), async_op=True)\n"
        "    work.get_future().then(lambda done: done.value()[0].sum())\n"
    )
    done = torchrun(script)
    assert done.returncode == 0, done.stderr
