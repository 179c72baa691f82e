"""``metrics.jsonl``: one line a step and one a validation, none lost and none twice."""

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from gradsurge.training.durable_file import Sink, remove_left_behind, write_durably
from gradsurge.training.job import Observer, StepFacts, TrainEnd, TrainStart

NAME = "metrics.jsonl"
STEP, VALIDATION = "step", "validation"


class MetricsFile(Observer):
    """Writes ``metrics.jsonl`` into the folder of the training.

    A line of a step has "kind": "step" and "step", "loss", "learning_rate", "grad_norm", "seconds"
    and "data_share", the share of the seconds spent waiting for data. A line of a validation has
    "kind": "validation", "step", "best" and the scores. Numbers that are not finite become null.

    A training that resumes writes the lines after its checkpoint again, so these are cut off first.
    """

    def __init__(self) -> None:
        self._stream: IO[bytes] | None = None

    def started(self, start: TrainStart) -> None:
        file = start.folder / NAME
        remove_left_behind(file)
        if file.exists():
            kept = [line for line in read_metrics(file) if _is_before(line, start)]
            content = b"".join(map(_to_line, kept))
            write_durably(file, lambda sink: _write_all(sink, content))
        self._stream = file.open("ab", buffering=0)  # a line is out when it is written

    def step(self, facts: StepFacts) -> None:
        self._write(
            {
                "kind": STEP,
                "step": facts.step,
                "loss": facts.loss,
                "learning_rate": facts.learning_rate,
                "grad_norm": facts.grad_norm,
                "seconds": round(facts.seconds, 6),
                "data_share": round(facts.waiting / facts.seconds, 4) if facts.seconds else 0.0,
            }
        )

    def validated(self, step: int, scores: Mapping[str, float], best: bool) -> None:
        self._write({"kind": VALIDATION, "step": step, "best": best, **scores})

    def saving(self, step: int) -> None:
        if self._stream is not None:
            os.fsync(self._stream.fileno())

    def stopped(self, end: TrainEnd) -> None:
        if self._stream is not None:
            self._stream.close()

    def _write(self, line: Mapping[str, Any]) -> None:
        if self._stream is not None:
            _write_all(self._stream, _to_line(line))


def read_metrics(file: str | Path) -> list[dict[str, Any]]:
    """Return the lines of a ``metrics.jsonl``; half a line, left by a kill, is not one.

    Raises:
        OSError: it cannot be read.
    """
    found = []
    for line in Path(file).read_bytes().splitlines():
        try:
            content = json.loads(line)
        except ValueError:
            continue
        if isinstance(content, dict) and isinstance(content.get("step"), int):
            found.append(content)
    return found


def _is_before(line: Mapping[str, Any], start: TrainStart) -> bool:
    return bool(line["step"] <= (start.validated if line.get("kind") == VALIDATION else start.step))


def _to_line(content: Mapping[str, Any]) -> bytes:
    plain = {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in content.items()
    }
    return json.dumps(plain, allow_nan=False).encode() + b"\n"


def _write_all(stream: IO[bytes] | Sink, content: bytes) -> None:
    """Write; on a nearly full disk a part may go out, and the next part tells the error."""
    while content:
        content = content[stream.write(content) :]
