"""What ``gradsurge train`` does with what was typed: plan, train, tell."""

import json
import os
import shlex
import signal
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from gradsurge.cli.output import fail, interrupted, progress_bar
from gradsurge.cli.train_options import request_of
from gradsurge.cli.train_output import print_result, result_to_json

if TYPE_CHECKING:
    from gradsurge.experiments.runs import RunConfig, RunResult


def train_as_asked(typed: Mapping[str, Any]) -> None:
    """Run the command; a mistake is one line and exit code 1, an interruption too."""
    # The loop has its own way to stop; before and after it, SIGTERM is like Ctrl-C.
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        result = _plan_and_run(typed)
    except KeyboardInterrupt:
        _stop("stopped")
    if not result.leader:
        raise typer.Exit(1 if result.outcome is None else 0)
    if typed["as_json"]:
        typer.echo(json.dumps(result_to_json(result), indent=2))
    else:
        print_result(result)
    if result.outcome is None:
        steps = result.config.training.steps
        _stop(f"stopped after step {result.step} of {steps}, everything is saved")


def resume_command(arguments: Sequence[str], environment: Mapping[str, str]) -> str:
    """Return the command that goes on.

    >>> resume_command(["/usr/bin/gradsurge", "train", "my store", "--out", "run"], {})
    "gradsurge train 'my store' --out run --resume"
    """
    again = [*arguments[1:], *([] if "--resume" in arguments else ["--resume"])]
    program = "gradsurge"
    if "TORCHELASTIC_RUN_ID" in environment:
        local, every = environment["LOCAL_WORLD_SIZE"], environment["WORLD_SIZE"]
        nodes = "" if local == every else f"--nnodes {int(every) // int(local)} ... "
        program = f"torchrun {nodes}--nproc-per-node {local} -m gradsurge"
    return f"{program} {shlex.join(again)}"


def default_workers(environment: Mapping[str, str], cores: int) -> int:
    """Return how many processes make patches: what the computation leaves, six at most.

    >>> (
    ...     default_workers({}, 2),
    ...     default_workers({"LOCAL_WORLD_SIZE": "2"}, 2),
    ...     default_workers({}, 64),
    ... )
    (1, 0, 6)
    """
    ranks = int(environment.get("LOCAL_WORLD_SIZE", "1"))
    return max(0, min(6, cores // ranks - 1))


def _plan_and_run(typed: Mapping[str, Any]) -> "RunResult":
    with progress_bar("looking", total=1):
        from gradsurge.training import TrainingError

        try:
            config = _plan(typed)
        except ValueError as error:
            fail(error)
    try:
        return _run(config, typed)
    except (ValueError, TrainingError) as error:
        fail(error)


def _plan(typed: Mapping[str, Any]) -> "RunConfig":
    from gradsurge.data.store import Store
    from gradsurge.experiments.runs import plan_run

    request = request_of(typed)
    return plan_run(Store.open(typed["store"]), request)


def _run(config: "RunConfig", typed: Mapping[str, Any]) -> "RunResult":
    from gradsurge.experiments.runs import train_run
    from gradsurge.report.figures import early_looks
    from gradsurge.training.observers import MetricsFile, TensorBoard, make_progress

    out: Path = typed["out"]
    return train_run(
        config,
        out,
        resume=typed["resume"],
        device=typed["device"],
        workers=default_workers(os.environ, _cores())
        if typed["workers"] is None
        else typed["workers"],
        observers=[MetricsFile(), TensorBoard(), make_progress()],
        on_look=lambda look: early_looks.write(look, out / "looks"),
        on_stage=lambda text: typer.echo(text, err=True),
    )


def _cores() -> int:
    """Return the cores that this process may use: a cluster gives a job a part of the machine."""
    allowed = getattr(os, "sched_getaffinity", None)  # macOS and Windows have none
    return len(allowed(0)) if allowed is not None else os.cpu_count() or 1


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def _stop(what: str) -> NoReturn:
    interrupted(what, resume_command(sys.argv, os.environ))
