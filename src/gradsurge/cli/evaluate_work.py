"""The work of ``gradsurge evaluate``: measured and written out of sight, then put in place."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.markup import escape

from gradsurge.cli.output import fail, progress_bar

if TYPE_CHECKING:
    from gradsurge.experiments.evaluation.result import Evaluation
    from gradsurge.experiments.evaluation.settings import Settings


@dataclass(frozen=True)
class Work:
    """What is measured, and by whom."""

    models: dict[str, Path]
    labels: Path
    settings: "Settings"
    images: Path | None
    jobs: int
    dask: str | None


def check_room(out: Path, overwrite: bool) -> None:
    """Refuse to replace results that nobody gave up, and what is none of ours."""
    from gradsurge.experiments.evaluation.result_folder import foreign_in, results_in

    if foreign := foreign_in(out):
        raise typer.BadParameter(
            f"{out} holds {', '.join(foreign)} without metrics.json, which is not of gradsurge; "
            f"choose another --out"
        )
    if results_in(out) and not overwrite:
        raise typer.BadParameter(f"{out} holds results already; replace them with --overwrite")


def measure_into(work: Work, out: Path) -> "Evaluation":
    """Measure and write; older results stay unless all went well."""
    with progress_bar("loading", total=1) as (bar, task), _told_in_a_line():
        from gradsurge.experiments.evaluation import files
        from gradsurge.experiments.evaluation.result_folder import new_results
        from gradsurge.experiments.evaluation.run import evaluate
        from gradsurge.report.evaluation.page import write_report

        with new_results(out) as folder:
            found = evaluate(
                work.models,
                work.labels,
                work.settings,
                images=work.images,
                sketches=folder / "sketches",
                jobs=work.jobs,
                dask=work.dask,
                on_tasks=lambda n: bar.update(task, description="measuring", total=n + 1),
                on_case=lambda case: bar.update(
                    task, description=escape(case.task.case), advance=1
                ),
            )
            bar.update(task, description="writing")
            files.write_metrics(found, folder / "metrics.json")
            files.write_cases(found, folder / "cases.csv")
            write_report(found, folder / "report.html")
    return found


@contextmanager
def _told_in_a_line() -> Iterator[None]:
    from gradsurge.cli.evaluate_output import print_problems
    from gradsurge.experiments.evaluation.run import NothingToScore
    from gradsurge.experiments.workers import WorkerError

    try:
        yield
    except (ValueError, WorkerError) as error:
        if isinstance(error, NothingToScore):
            print_problems(error.problems)
        fail(error)
