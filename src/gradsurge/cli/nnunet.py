"""``gradsurge nnunet``: let nnU-Net find our trainers, and see whether it does."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

import typer

from gradsurge.cli.nnunet_output import print_installed, print_status, print_uninstalled
from gradsurge.cli.output import fail, mistakes_in_one_line

nnunet = typer.Typer(
    help="Train nnU-Net with surgery: -tr nnUNetTrainerSurgery or nnUNetTrainerDiceSurgery."
)


@nnunet.callback()
def _nnunet() -> None:
    """Train nnU-Net with surgery: nnUNetv2_train DATASET 3d_fullres 0 -tr nnUNetTrainerSurgery.

    nnUNetTrainerSurgery has cross-entropy + Dice with surgery, nnUNetTrainerDiceSurgery Dice with
    surgery alone.
    """


@nnunet.command()
def install(
    print_env: Annotated[
        bool,
        typer.Option(
            "--print-env",
            metavar="",
            help="Write nothing; print the variable that does the same, for eval and scripts.",
        ),
    ] = False,
) -> None:
    """Put one small module into nnU-Net's folder of trainers, so that it finds both of ours.

    Where that folder cannot be written, or should not be: eval "$(gradsurge nnunet install
    --print-env)" sets nnUNet_extTrainer instead.
    """
    from gradsurge.experiments.nnunet import installing

    if print_env:
        import shlex

        value = installing.extended_variable(os.environ)
        typer.echo(f"export {installing.VARIABLE}={shlex.quote(value)}")
        return
    with _told_in_a_line():
        print_installed(*installing.install())


@nnunet.command()
def uninstall() -> None:
    """Remove the module again; trained models stay as they are."""
    from gradsurge.experiments.nnunet import installing

    with _told_in_a_line():
        print_uninstalled(*installing.uninstall())


@nnunet.command()
def status(
    as_json: Annotated[bool, typer.Option("--json", metavar="", help="Print JSON.")] = False,
) -> None:
    """Say whether nnU-Net is here and finds both trainers; exit code 1 if not."""
    from gradsurge.experiments.nnunet import installing

    with _told_in_a_line():
        found = installing.status(os.environ)
    if as_json:
        content = {**found._asdict(), "file": str(found.file), "found": found.found}
        typer.echo(json.dumps(content, indent=2))
    else:
        print_status(found)
    raise typer.Exit(0 if found.found else 1)


@contextmanager
def _told_in_a_line() -> Iterator[None]:
    try:
        with mistakes_in_one_line():
            yield
    except OSError as error:
        reason = error.strerror or str(error)
        instead = "use gradsurge nnunet install --print-env, which writes nothing"
        fail(f"{error.filename}: {reason}; {instead}", error)
