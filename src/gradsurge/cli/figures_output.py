"""What the figure commands share: where they write, and how they tell."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from gradsurge.cli.output import check_directory

Out = Annotated[
    Path,
    typer.Option(metavar="FOLDER", help="Folder for the files.", callback=check_directory),
]
AsJson = Annotated[bool, typer.Option("--json", metavar="", help="Print JSON.")]


def print_figures(
    files: Mapping[str, Sequence[Path]],
    numbers: Mapping[str, float],
    as_json: bool,
) -> None:
    """Print the files of each figure, and the numbers that they show."""
    if as_json:
        content = {
            "figures": {name: [str(file) for file in of_one] for name, of_one in files.items()},
            "numbers": dict(numbers),
        }
        typer.echo(json.dumps(content, indent=2, allow_nan=False))
        return
    for of_one in files.values():
        for file in of_one:
            typer.echo(file)
    for name, value in numbers.items():
        typer.echo(f"    {name} = {value:.4g}")
