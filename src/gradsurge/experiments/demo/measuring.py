"""The measuring of a demo: the code of ``gradsurge evaluate`` on the demo's own folders."""

from collections.abc import Sequence
from pathlib import Path

from gradsurge.data import LabelSet
from gradsurge.experiments.demo.cases import HeldOut
from gradsurge.experiments.demo.compared import POSTERIOR, Compared
from gradsurge.experiments.demo.folder import PREDICTIONS
from gradsurge.experiments.demo.watcher import Watcher
from gradsurge.experiments.evaluation.result import Evaluation
from gradsurge.experiments.evaluation.run import evaluate
from gradsurge.experiments.evaluation.settings import Settings
from gradsurge.experiments.runs import Task


def measure_all(
    rows: Sequence[Compared],
    held_out: HeldOut,
    task: Task,
    out: Path,
    sketches: Path,
    watcher: Watcher,
) -> Evaluation:
    """Measure every line of the table, the true posterior among them where it is known.

    Args:
        rows: what was predicted.
        held_out: the cases.
        task: what the models tell.
        out: folder of the demo.
        sketches: folder for the sketches.
        watcher: told of the cases.
    """
    models = {row.name: out / PREDICTIONS / row.folder for row in rows}
    if held_out.posterior is not None:
        models[POSTERIOR] = held_out.posterior
    done = 0

    def on_case(_: object) -> None:
        nonlocal done
        done += 1
        watcher.done(done)

    return evaluate(
        models,
        held_out.labels,
        settings_of(task),
        images=held_out.images,
        sketches=sketches,
        on_tasks=lambda n: watcher.stage("measuring", n),
        on_case=on_case,
    )


def settings_of(task: Task) -> Settings:
    """Return how the maps of a task are measured.

    >>> settings_of(Task(("lesion",), "softmax", 2, (), None)).label_sets
    (LabelSet(name='lesion', values=(1,)),)
    """
    numbers = task.regions or ((1,),)
    # Several exclusive classes are measured together, as they are: their NLL is joint.
    named = bool(task.regions) or task.kind == "binary"
    sets = tuple(LabelSet(n, v) for n, v in zip(task.names, numbers, strict=True)) if named else ()
    return Settings(multilabel=len(task.regions) > 1, label_sets=sets, allow_empty=True)
