"""``gradsurge doctor``: what this environment has and lacks."""

import json
from typing import Annotated

import typer

from gradsurge.cli.doctor_output import print_diagnosis
from gradsurge.cli.output import progress_bar


def doctor(
    as_json: Annotated[bool, typer.Option("--json", metavar="", help="Print JSON.")] = False,
) -> None:
    """Print versions, devices and optional parts, and how to get what is missing.

    The exit code is 1 if something is missing that gradsurge cannot do without. Optional parts
    may be.
    """
    with progress_bar("looking", total=1):
        from gradsurge.experiments.doctor import diagnose

        found = diagnose()
    if as_json:
        typer.echo(json.dumps(found.to_json(), indent=2))
    else:
        print_diagnosis(found)
    raise typer.Exit(1 if found.problems else 0)
