"""What each of two processes does that torchrun has started; `test_ranks` looks at the outcome."""

import json
import signal
import sys
from pathlib import Path

import torch
from torch import nn

from gradsurge.training import NonFiniteError, Observer, TrainingError, make_fabric, train
from gradsurge.training.observers import MetricsFile
from tests.training.same_state import lines
from tests.training.small_job import SETTINGS, batch, dice, small_job


def model():
    """Nothing in it depends on the other samples of a batch."""
    torch.manual_seed(3)
    return nn.Sequential(nn.Conv2d(1, 6, 3, padding=1), nn.ReLU(), nn.Conv2d(6, 2, 1))


def parts(rank, ranks):
    """The rank's share of the same batches."""

    def from_number(start):
        number = start
        while True:
            whole = batch(number)
            share = slice(4 * rank // ranks, 4 * (rank + 1) // ranks)
            yield {name: value[share] for name, value in whole.items()}
            number += 1

    return from_number


class StopAtFive(Observer):
    def step(self, facts):
        if facts.step == 5:
            signal.raise_signal(signal.SIGTERM)


def failing(stream, number, error):
    def from_number(start):
        for i, made in enumerate(stream(start)):
            if start + i == number:
                raise error
            yield made

    return from_number


def poisoned(stream, number):
    def from_number(start):
        for i, made in enumerate(stream(start)):
            yield made | {"image": made["image"] * (torch.nan if start + i == number else 1.0)}

    return from_number


def damaged(model, step):
    raise ValueError("case_9: image.b2nd: damaged")


def outcome(job, fabric):
    try:
        end = train(job, fabric)
    except NonFiniteError as error:
        return {"error": str(error), "cases": error.cases}
    except TrainingError as error:
        return {"error": str(error)}
    return {"reason": end.reason, "step": end.step, "best": end.best.dice if end.best else None}


def main(folder):
    torch.set_num_threads(1)
    fabric = make_fabric("cpu")
    rank, mine = fabric.global_rank, parts(fabric.global_rank, fabric.world_size)

    def job(name, **changes):
        observers = [MetricsFile(), *changes.pop("observers", ())]
        given = {"model": model(), "batches": mine, "observers": observers} | changes
        return small_job(folder / name, SETTINGS, **given)

    found = {"world": fabric.world_size, "whole": outcome(job("whole"), fabric)}
    found["lines"] = lines(folder / "whole")
    # Observers are rank 0's: that rank alone is asked to stop, and both must.
    stopped = outcome(job("broken", observers=[StopAtFive()]), fabric)
    found |= {"stopped": stopped, "resumed": outcome(job("broken"), fabric)}
    lost = failing(mine, 6, OSError("case_6_3: gone")) if rank == 1 else mine
    found["lost"] = outcome(job("lost", batches=lost), fabric)
    strange = poisoned(mine, 8) if rank == 1 else mine
    found["nan"] = outcome(job("nan", batches=strange), fabric)
    found["damaged"] = outcome(job("damaged", validate=damaged if rank == 1 else dice), fabric)
    (folder / f"{rank}.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
