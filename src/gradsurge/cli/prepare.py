"""``gradsurge prepare``: from raw scans, or from nothing, to a store."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from gradsurge.cli.completion import DATASETS, PHANTOMS, one_of
from gradsurge.cli.output import check_directory, fail, progress_bar
from gradsurge.cli.sizes import parse_size

if TYPE_CHECKING:
    from gradsurge.data.datasets import Dataset
    from gradsurge.experiments.preparation import Preparation


def prepare(
    dataset: Annotated[
        str,
        typer.Argument(
            metavar="DATASET",
            help="fives, inbreast, brats-mets, kits, chase, nnunet, images; or a phantom: "
            "lesions-2d, lesions-3d, vessels-2d, organs-3d.",
            autocompletion=one_of(*DATASETS, *PHANTOMS),
        ),
    ],
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="[RAW] OUT",
            help="Folder of the raw data, which phantoms do not have, and folder for the store.",
        ),
    ],
    seed: Annotated[int, typer.Option(help="Of the splits, and of phantoms.", min=0)] = 0,
    cases: Annotated[
        int | None, typer.Option(help="How many phantoms; 100 if left out.", min=1)
    ] = None,
    size: Annotated[
        str | None, typer.Option(metavar="N,N[,N]", help="Voxels of a phantom along each axis.")
    ] = None,
    options: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="An option of the data set; repeatable. nnunet: spacing=1,1,1 (or median) "
            "crop=nonzero fold=0 splits=FILE patient=REGEX merge=NAME; images: classes=a,b "
            "patient=REGEX; inbreast: breasts=all; chase: shrink=2.",
        ),
    ] = None,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", help="Processes; 0 for one a core.", min=0)
    ] = 1,
    dask: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Work on this Dask cluster.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Bring raw scans into a store, which training reads patches from.

    gradsurge prepare nnunet Dataset004_Hippocampus stores/hippocampus

    gradsurge prepare lesions-2d stores/phantoms --cases 100 --size 128,128

    Run it again after an interruption, or when files changed: only what is missing or made of
    other files or settings is prepared. What cannot be read is listed in failures.json.
    """
    with progress_bar("looking", total=1) as (bar, task):
        from gradsurge.experiments.preparation import DiskFull, NothingToPrepare
        from gradsurge.experiments.preparing import prepare as run
        from gradsurge.experiments.stopping import sigterm_interrupts
        from gradsurge.experiments.workers import WorkerError

        chosen, raw, out = _choose(dataset, folders, options or [], cases, size, seed)
        try:
            with sigterm_interrupts():
                found = run(
                    chosen,
                    raw,
                    out,
                    seed=seed,
                    jobs=jobs,
                    dask=dask,
                    on_label=lambda done, every: bar.update(
                        task, description="reading labels", completed=done, total=every
                    ),
                    on_tasks=lambda n: bar.update(
                        task, description="preparing", completed=0, total=n
                    ),
                    on_case=lambda done: bar.update(task, description=escape(done.case), advance=1),
                )
        except NothingToPrepare as error:
            _print_failures(error.failures)
            fail(error)
        except (ValueError, DiskFull, WorkerError) as error:
            fail(error)
        except KeyboardInterrupt as error:
            fail("stopped; run the same command again, it goes on from there", error)
    if as_json:
        typer.echo(json.dumps({"store": str(out), **vars(found)}, indent=2))
    else:
        _print_counts(found, out)
    _print_failures(found.failures)
    raise typer.Exit(1 if found.failures else 0)


def _choose(
    name: str,
    folders: list[Path],
    options: list[str],
    cases: int | None,
    size: str | None,
    seed: int,
) -> tuple["Dataset", Path, Path]:
    """Return the data set, its raw folder and the folder of the store."""
    from gradsurge.data.datasets import DATASETS
    from gradsurge.data.datasets.making import make_dataset
    from gradsurge.data.datasets.phantom_set import PhantomSet
    from gradsurge.data.phantoms import PHANTOMS

    *raw, out = folders
    check_directory(out)
    if name in PHANTOMS:
        if raw or options:
            raise typer.BadParameter(
                f"{name} has no raw data and no --set: gradsurge prepare {name} OUT"
            )
        try:
            return PhantomSet(name, cases or 100, parse_size(size), seed), Path(), out
        except ValueError as error:
            raise typer.BadParameter(str(error)) from error
    if name not in DATASETS:
        known = ", ".join((*DATASETS, *PHANTOMS))
        raise typer.BadParameter(f"unknown data set {name!r}; known: {known}")
    if len(raw) != 1:
        raise typer.BadParameter(f"expected two folders: gradsurge prepare {name} RAW OUT")
    if cases is not None or size is not None:
        raise typer.BadParameter("--cases and --size are for phantoms")
    try:
        return make_dataset(name, dict(_pair(text) for text in options)), raw[0], out
    except ValueError as error:
        raise typer.BadParameter(f"--set: {error}") from error


def _pair(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator or not name:
        raise typer.BadParameter(f"--set: expected NAME=VALUE, got {text!r}")
    return name, value


def _print_counts(found: "Preparation", out: Path) -> None:
    for case in found.removed:
        typer.echo(f"removed, no longer in the raw folder: {case}")
    typer.echo(
        f"{len(found.prepared)} cases prepared, {len(found.unchanged)} unchanged, "
        f"{len(found.removed)} removed, {len(found.failures)} failed: {out}"
    )


def _print_failures(failures: list[tuple[str, str]]) -> None:
    for case, problem in failures:
        typer.echo(f"gradsurge: problem: {' '.join(f'{case}: {problem}'.split())}", err=True)
