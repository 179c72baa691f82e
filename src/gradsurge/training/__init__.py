"""Training: the loop, its checkpoints, and those who watch it. Model, loss and data are given."""

from gradsurge.training.checkpoint import Checkpoint, read_checkpoint
from gradsurge.training.compiling import NoCompilerError
from gradsurge.training.errors import NonFiniteError, TrainingError
from gradsurge.training.fabric import make_fabric
from gradsurge.training.job import Best, Observer, StepFacts, TrainEnd, TrainJob, TrainStart
from gradsurge.training.loop import train
from gradsurge.training.settings import TrainSettings

__all__ = [
    "Best",
    "Checkpoint",
    "NoCompilerError",
    "NonFiniteError",
    "Observer",
    "StepFacts",
    "TrainEnd",
    "TrainJob",
    "TrainSettings",
    "TrainStart",
    "TrainingError",
    "make_fabric",
    "read_checkpoint",
    "train",
]
