"""Those who watch a training: a bar, lines, ``metrics.jsonl`` and TensorBoard."""

from gradsurge.training.observers.lines import PlainLines
from gradsurge.training.observers.metrics_file import MetricsFile, read_metrics
from gradsurge.training.observers.progress import ProgressBar, make_progress
from gradsurge.training.observers.tensorboard import TensorBoard

__all__ = [
    "MetricsFile",
    "PlainLines",
    "ProgressBar",
    "TensorBoard",
    "make_progress",
    "read_metrics",
]
