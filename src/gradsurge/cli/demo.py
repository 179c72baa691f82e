"""``gradsurge demo``: the main job on phantoms, or on a raw folder of nnU-Net."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from gradsurge.cli.demo_output import print_demo
from gradsurge.cli.demo_progress import StageBar, StageLines, make_watcher
from gradsurge.cli.output import check_directory, fail
from gradsurge.experiments.threads import limit_threads

if TYPE_CHECKING:
    from gradsurge.experiments.demo import DemoPlan, DemoResult

_STAGES = 7  # preparing, three trainings, predicting, measuring, drawing


def demo(
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Folder for everything; runs/demo, with a suffix for other presets or data, if "
            "left out.",
            callback=lambda out: out and check_directory(out),
        ),
    ] = None,
    preset: Annotated[
        Literal["2d", "3d"] | None, typer.Option(help="Of phantoms; 2d if left out.")
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Real data instead of phantoms: a raw folder of nnU-Net, with dataset.json, "
            "imagesTr and labelsTr; three cases or more, which are divided into training, "
            "validation and test cases unless splits_final.json does.",
            exists=True,
            file_okay=False,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of data, weights and patches.", min=0)] = 0,
    steps: Annotated[
        int | None,
        typer.Option(help="Of each training; if left out, 800 (2d, --data) or 400 (3d).", min=1),
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda, cuda:1, mps.")] = "auto",
    threads: Annotated[  # noqa: ARG001 -- its callback tells the libraries
        int | None,
        typer.Option(
            help="Of the computation; 1 is fastest where others use the cores.",
            min=1,
            callback=limit_threads,
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Remove an older demo in the folder first.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print results.json.")] = False,
    tiny: Annotated[bool, typer.Option("--tiny", hidden=True)] = False,
) -> None:
    """Train with cross-entropy, Dice and Dice surgery, and compare their probabilities.

    The same network, cases and steps for all three; then held-out cases are predicted and
    measured, and a report is written. On phantoms, where the true posterior is known, it takes a
    few minutes on two cores. The same command again goes on where it was: prepared cases and
    trained models are kept.
    """
    if data is not None and preset is not None:
        raise typer.BadParameter("--preset is for phantoms; leave it out with --data")
    out = check_directory(_default_folder(preset, data) if out is None else out)
    watcher = make_watcher(_STAGES)
    with watcher.shown():
        from gradsurge.experiments.demo import plan_phantoms, plan_real, smoke

        if data is None:
            plan = plan_phantoms(preset or "2d", seed, steps)
        else:
            plan = plan_real(data, seed, steps)
        result, files = _run(smoke(plan) if tiny else plan, out, overwrite, device, watcher)
    print_demo(result, files, as_json)
    raise typer.Exit(1 if result.problems else 0)


def _default_folder(preset: str | None, data: Path | None) -> Path:
    """Return a folder for each preset and data set, so that they do not meet.

    >>> (
    ...     _default_folder(None, None),
    ...     _default_folder("3d", None),
    ...     _default_folder(None, Path("/a/B")),
    ... )
    (PosixPath('runs/demo'), PosixPath('runs/demo-3d'), PosixPath('runs/demo-B'))
    """
    suffix = data.resolve().name if data is not None else preset
    return Path("runs/demo" if suffix in (None, "2d") else f"runs/demo-{suffix}")


def _run(
    plan: "DemoPlan", out: Path, overwrite: bool, device: str, watcher: StageBar | StageLines
) -> tuple["DemoResult", list[str]]:
    """Run the demo and write its pages; mistakes and interruptions are one line."""
    from gradsurge.experiments.demo import DemoStopped, run_demo
    from gradsurge.experiments.preparation import DiskFull
    from gradsurge.experiments.stopping import sigterm_interrupts
    from gradsurge.report.demo.page import write_pages
    from gradsurge.training import TrainingError

    try:
        with sigterm_interrupts():
            result = run_demo(
                plan,
                out,
                overwrite=overwrite,
                watcher=watcher,
                device=device,
            )
            watcher.stage("drawing", 1)
            files = write_pages(result)
            watcher.finish()
    except DemoStopped as error:
        fail(f"stopped at {error}, which is saved; the same command goes on from there", error)
    except KeyboardInterrupt as error:
        fail("stopped; the same command goes on from there", error)
    except (ValueError, TrainingError, DiskFull) as error:
        fail(error)
    return result, files
