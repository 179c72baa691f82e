import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from gradsurge.training import StepFacts, TrainEnd, TrainSettings, TrainStart, train
from gradsurge.training.job import Best
from gradsurge.training.observers import (
    MetricsFile,
    PlainLines,
    ProgressBar,
    TensorBoard,
    make_progress,
    read_metrics,
)
from gradsurge.training.observers.pace import Pace
from tests.training.small_job import small_job

SETTINGS = TrainSettings(steps=100)


def start(folder=Path("run"), step=0, validated=-1):
    return TrainStart(SETTINGS, folder, step, validated, None)


def facts(step, loss=0.5, seconds=0.25, waiting=0.05, norm=1.0):
    return StepFacts(step, loss, 0.01, norm, seconds, waiting)


def test_metrics_lines(tmp_path):
    writer = MetricsFile()
    writer.started(start(tmp_path))
    writer.step(facts(1))
    writer.step(facts(2, norm=float("inf")))
    writer.validated(2, {"dice": 0.5, "nll": float("nan")}, True)
    found = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    writer.stopped(TrainEnd(2, "interrupted", None))
    assert found == read_metrics(tmp_path / "metrics.jsonl")
    assert found[0] == {
        "kind": "step",
        "step": 1,
        "loss": 0.5,
        "learning_rate": 0.01,
        "grad_norm": 1.0,
        "seconds": 0.25,
        "data_share": 0.2,
    }
    assert found[1]["grad_norm"] is None
    assert found[2] == {"kind": "validation", "step": 2, "best": True, "dice": 0.5, "nll": None}


@pytest.mark.parametrize(
    ("step", "validated", "kept"), [(4, 4, 6), (4, 2, 5), (3, 2, 4), (0, -1, 0)]
)
def test_metrics_are_cut_back_to_the_checkpoint(tmp_path, step, validated, kept):
    writer = MetricsFile()
    writer.started(start(tmp_path))
    for n in range(1, 7):
        writer.step(facts(n))
        if n % 2 == 0:
            writer.validated(n, {"dice": 0.1 * n}, True)
    writer.stopped(TrainEnd(6, "failed", None))
    file = tmp_path / "metrics.jsonl"
    before = read_metrics(file)
    file.write_bytes(file.read_bytes() + b'{"kind": "step", "ste')
    again = MetricsFile()
    again.started(start(tmp_path, step, validated))
    again.stopped(TrainEnd(step, "failed", None))
    assert read_metrics(file) == before[:kept]


def test_metrics_of_strange_content(tmp_path):
    file = tmp_path / "metrics.jsonl"
    file.write_bytes(b'[1]\n\xff\xfe\n{"step": "x"}\n{"step": 3}\nnull\n')
    assert read_metrics(file) == [{"step": 3}]


def test_plain_lines_now_and_then():
    now, stream = [0.0], io.StringIO()
    lines = PlainLines(stream, every=10.0, clock=lambda: now[0])
    lines.started(start())
    for step in range(1, 51):
        now[0] = step * 0.5
        lines.step(facts(step, waiting=0.025))
    lines.validated(50, {"dice": 0.8, "ece": 0.012}, True)
    lines.stopped(TrainEnd(50, "interrupted", Best(0.8, 50)))
    said = stream.getvalue().splitlines()
    assert said[0] == "training 100 steps: run"
    assert [line.split()[1] for line in said[1:-2]] == ["1", "21", "41"]
    assert said[2] == ("step 21 of 100: loss 0.5000, 4.00 steps/s, 10% waiting for data, 0:40 left")
    assert said[-2] == "step 50: validation: Dice 0.8000, ECE 0.0120, best so far"
    assert said[-1].startswith("stopped after step 50, which is saved in run/last.pt; the same")


def test_the_end_in_words():
    for end, expected in (
        (TrainEnd(100, "finished", Best(0.75, 40)), "finished after step 100; best Dice 0.7500 at"),
        (TrainEnd(100, "finished", None), "finished after step 100\n"),
        (TrainEnd(3, "failed", None), ""),
    ):
        stream = io.StringIO()
        PlainLines(stream).stopped(end)
        assert stream.getvalue().startswith(expected)
        assert bool(stream.getvalue()) == bool(expected)


def test_going_on_is_said():
    stream = io.StringIO()
    PlainLines(stream).started(start(step=40))
    assert stream.getvalue() == "going on after step 40 of 100: run\n"


def test_a_bar_on_a_terminal():
    stream = io.StringIO()
    console = Console(file=stream, force_terminal=True, width=160)
    bar = ProgressBar(console)
    bar.started(start())
    bar.step(facts(1))
    bar.validated(1, {"dice": 0.8, "ece": 0.0123}, False)
    bar.step(facts(2))
    bar.stopped(TrainEnd(2, "interrupted", None))
    said = stream.getvalue()
    for part in ("2/100", "loss 0.5000", "Dice 0.8000, ECE 0.0123", "4.00 steps/s", "left"):
        assert part in said, part
    assert "--resume" in said


def test_markup_in_a_path_is_only_text():
    stream = io.StringIO()
    bar = ProgressBar(Console(file=stream, force_terminal=True, width=160))
    bar.started(start(Path("[red]run[/nothing]")))
    bar.stopped(TrainEnd(2, "interrupted", None))
    assert "[red]run[/nothing]" in stream.getvalue()


def test_a_bar_or_lines(monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    monkeypatch.setenv("TERM", "xterm")
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    assert isinstance(make_progress(Terminal()), ProgressBar)
    assert isinstance(make_progress(io.StringIO()), PlainLines)


def test_pace_after_resuming():
    now = [100.0]
    pace = Pace(lambda: now[0])
    assert pace.seconds_left is None
    pace.start(start(step=60))
    for step in range(61, 71):
        now[0] += 1.0
        pace.add(facts(step, loss=step, seconds=0.5, waiting=0.125))
    assert pace.seconds_left == pytest.approx(30.0)  # validations are part of a second a step
    assert pace.per_second == pytest.approx(2.0)
    assert pace.data_share == pytest.approx(0.25)
    weights = [0.98**k for k in range(10)]
    expected = sum(w * loss for w, loss in zip(weights, range(70, 60, -1), strict=True))
    assert pace.loss == pytest.approx(expected / sum(weights))


def test_tensorboard_files(fabric, tmp_path):
    with pytest.raises(ValueError, match="every: expected a whole number of 1 or above, got 0"):
        TensorBoard(every=0)
    settings = TrainSettings(steps=6, validate_every=3)
    train(small_job(tmp_path, settings, observers=[TensorBoard(every=2)]), fabric)
    found = events(next((tmp_path / "tensorboard").glob("events.*")))
    losses = [step for tag, step in found if tag == "train/loss"]
    assert losses == [2, 4, 6]
    assert [step for tag, step in found if tag == "validation/dice"] == [3, 6]


def events(file):
    """Read an event file as TensorBoard does: length, checksum, event, checksum."""
    from tensorboardX.proto.event_pb2 import Event

    content, at, found = file.read_bytes(), 0, []
    while at < len(content):
        length = int.from_bytes(content[at : at + 8], "little")
        event = Event.FromString(content[at + 12 : at + 12 + length])
        found += [(value.tag, event.step) for value in event.summary.value]
        at += 12 + length + 4
    return found
