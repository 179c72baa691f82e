"""What ``gradsurge nnunet`` prints."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from gradsurge.experiments.nnunet.installing import Status

_TRAIN = "nnUNetv2_train DATASET 3d_fullres 0 -tr nnUNetTrainerSurgery --npz"


def print_installed(file: Path, written: bool) -> None:
    """Print what was done, and how to go on."""
    typer.echo(f"{'Written' if written else 'Already there'}: {file}")
    typer.echo(f"Train with: {_TRAIN}")


def print_uninstalled(file: Path, removed: bool) -> None:
    """Print what was done."""
    typer.echo(f"{'Removed' if removed else 'Not there'}: {file}")


def print_status(found: "Status") -> None:
    """Print what nnU-Net there is, and by which way it finds the trainer."""
    typer.echo(f"nnU-Net {found.nnunet}")
    what = {
        "absent": "not installed",
        "installed": "installed",
        "other version": "installed by another gradsurge; gradsurge nnunet install brings it up "
        "to date",
        "not ours": "a file of this name that is not of gradsurge",
    }[found.state]
    typer.echo(f"{found.file}: {what}")
    typer.echo(f"nnUNet_extTrainer: {'names' if found.by_variable else 'does not name'} our folder")
    typer.echo(f"Train with: {_TRAIN}" if found.found else "Next: gradsurge nnunet install")
