"""Many cases of one or more models: worked on in parallel, added up in their order."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import gradsurge
from gradsurge.data import find_files, match_cases
from gradsurge.experiments.comparison import compare
from gradsurge.experiments.evaluation.case import CaseResult, CaseTask, evaluate_case
from gradsurge.experiments.evaluation.collect import Collector
from gradsurge.experiments.evaluation.looks import worst_looks
from gradsurge.experiments.evaluation.notes import notes_of
from gradsurge.experiments.evaluation.own_masks import own_masks
from gradsurge.experiments.evaluation.result import Evaluation, ModelResult, Problem
from gradsurge.experiments.evaluation.scoring import headline_scores
from gradsurge.experiments.evaluation.settings import Settings
from gradsurge.experiments.nnunet.outputs import find_predictions
from gradsurge.experiments.nnunet.regions import settings_for
from gradsurge.experiments.workers import each_in_order


class NothingToScore(ValueError):
    """No case could be scored; ``problems`` says why."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("no case could be scored")
        self.problems = problems


def find_tasks(
    models: Mapping[str, Path], labels: Path, settings: Settings
) -> tuple[dict[str, ModelResult], list[CaseTask]]:
    """Match files by name; files without a partner become problems of their model.

    Raises:
        ValueError: a folder is missing, or holds nothing that can be read.
    """
    label_files = find_files(labels)
    masks = find_files(settings.masks) if settings.masks else {}
    results, tasks = {}, []
    for name, folder in models.items():
        found = find_predictions(folder, label_files)
        matching = match_cases(found.files, found.wanted(label_files))
        results[name] = ModelResult(name, folder)
        results[name].problems += [Problem(name, *problem) for problem in matching.problems]
        own = own_masks(folder, [m.name for m in matching.cases], settings)
        results[name].own_masks = bool(own)
        tasks += [
            CaseTask(name, m.name, m.prediction, m.label, masks.get(m.name, ()), own.get(m.name))
            for m in matching.cases
        ]
    return results, tasks


def evaluate(
    models: Mapping[str, Path],
    labels: Path,
    settings: Settings,
    *,
    images: Path | None = None,
    sketches: Path | None = None,
    jobs: int = 1,
    dask: str | None = None,
    on_tasks: Callable[[int], None] = lambda _: None,
    on_case: Callable[[CaseResult], None] = lambda _: None,
) -> Evaluation:
    """Measure the predictions of every model against the labels.

    Args:
        models: name -> folder of predictions.
        labels: folder of labels.
        settings: what is measured.
        images: folder of the scans, for the pictures of the worst cases.
        sketches: folder to write every case's sketches to, and the pooled ones.
        jobs: processes on this machine; 0 for one a core.
        dask: address of a Dask scheduler, which then does the work; the results are equal to the
            last bit, because cases are added in one order wherever they were counted.
        on_tasks: called with the number of cases before the work.
        on_case: called after each case.

    Raises:
        ValueError: a folder is missing or holds nothing that can be read.
        NothingToScore: not one case could be scored.
    """
    settings = settings_for(models.values(), settings)
    results, tasks = find_tasks(models, labels, settings)
    on_tasks(len(tasks))
    collector = Collector(results, settings, sketches)
    for result in _each_case(tasks, settings, jobs, dask):
        collector.add(result)
        on_case(result)
    return _finished(collector, labels, tasks, images)


def _each_case(
    tasks: Sequence[CaseTask], settings: Settings, jobs: int, dask: str | None
) -> Iterator[CaseResult]:
    if dask is not None:  # a cluster's workers were started elsewhere
        tasks = [task.absolute() for task in tasks]
    return each_in_order(partial(evaluate_case, settings=settings), tasks, jobs, dask)


def _finished(
    collector: Collector, labels: Path, tasks: Sequence[CaseTask], images: Path | None
) -> Evaluation:
    models = collector.models
    if not any(model.cases for model in models.values()):
        raise NothingToScore([p for model in models.values() for p in model.problems])
    collector.finish()
    found = Evaluation(
        collector.settings,
        labels,
        models,
        collector.names,
        collector.dimensions,
        provenance=_provenance(),
    )
    found.comparisons = compare(_by_case(found))
    found.looks = worst_looks(found, tasks, images)
    found.notes = notes_of(found, tasks, images)
    return found


def _by_case(evaluation: Evaluation) -> dict[str, dict[str, dict[str, float]]]:
    """Return model -> score -> case -> value, of what heads the tables."""
    region, label = evaluation.settings.regions[0], evaluation.headline
    names = headline_scores(evaluation.settings, evaluation.dimensions)
    found: dict[str, dict[str, dict[str, float]]] = {}
    for model in evaluation.models.values():
        rows = [r for r in model.rows if (r.region, r.label) == (region, label)]
        found[model.name] = {
            name: {r.case: r.scores[name] for r in rows if name in r.scores} for name in names
        }
    return found


def _provenance() -> dict[str, str]:
    return {
        "gradsurge": gradsurge.__version__,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }
