"""The command line: one file a command, no logic. Heavy imports stay inside the commands."""

import sys
from typing import Annotated

import typer

import gradsurge
from gradsurge.cli.demo import demo
from gradsurge.cli.doctor import doctor
from gradsurge.cli.evaluate import evaluate
from gradsurge.cli.figures import figures
from gradsurge.cli.help_text import join_lines
from gradsurge.cli.inspect import inspect
from gradsurge.cli.nnunet import nnunet
from gradsurge.cli.predict import predict
from gradsurge.cli.prepare import prepare
from gradsurge.cli.recalibrate import recalibrate
from gradsurge.cli.reproduce import reproduce
from gradsurge.cli.search import search
from gradsurge.cli.show import show
from gradsurge.cli.train import train
from gradsurge.cli.view import view

app = typer.Typer(
    name="gradsurge",
    help="Segmentation with Dice-type losses and probabilities you can trust.",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(demo)
app.command()(prepare)
app.command()(inspect)
app.command()(train)
app.command()(predict)
app.command()(show)
app.command()(view)
app.command()(evaluate)
app.add_typer(recalibrate, name="recalibrate")
app.add_typer(nnunet, name="nnunet")
app.add_typer(search, name="search")
app.command()(reproduce)
app.add_typer(figures, name="figures")
app.command()(doctor)
join_lines(app)


@app.callback(invoke_without_command=True)
def _top(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(f"gradsurge {gradsurge.__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(2)


def main() -> None:
    """Run the command; a user's mistake is one line on stderr and exit code 2, a failure 1."""
    try:
        code = app(prog_name="gradsurge", standalone_mode=False)
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        hint = "" if context is None else f" (see {context.command_path} --help)"
        code = _complain(f"{error.format_message()}{hint}", error.exit_code)
    except typer.Abort:
        code = _complain("aborted", 1)
    except OSError as error:
        file = "" if error.filename is None else f"{error.filename}: "
        code = _complain(f"{file}{error.strerror or error}", 1)
    sys.exit(code or 0)


def _complain(message: str, code: int) -> int:
    typer.echo(f"gradsurge: error: {' '.join(message.split())}", err=True)
    return code
