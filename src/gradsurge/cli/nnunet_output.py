"""What ``gradsurge nnunet`` prints."""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from gradsurge.experiments.nnunet.installing import Status

_TRAIN = "nnUNetv2_train DATASET 3d_fullres 0 -tr nnUNetTrainerSurgery --npz"
_OR = "Or, without cross-entropy: -tr nnUNetTrainerDiceSurgery"


def print_installed(file: Path, written: bool) -> None:
    """Print what was done, and how to go on."""
    typer.echo(f"{'Written' if written else 'Already there'}: {file}")
    _print_commands()


def print_uninstalled(file: Path, removed: bool) -> None:
    """Print what was done."""
    typer.echo(f"{'Removed' if removed else 'Not there'}: {file}")


def print_status(found: "Status") -> None:
    """Print what nnU-Net there is, and by which way it finds the trainers."""
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
    if found.found:
        _print_commands()
    else:
        missing = " and ".join(found.missing)
        typer.echo(f"nnU-Net does not find {missing}; next: gradsurge nnunet install")


def _print_commands() -> None:
    typer.echo(f"Train with: {_TRAIN}")
    typer.echo(_OR)
