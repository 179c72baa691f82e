"""What ``gradsurge demo`` prints."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich import box
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from gradsurge.experiments.demo import DemoResult

# Score -> heading and decimals; all of them fit into _WIDE characters, and none is cut off. All
# that is printed is ASCII: not every terminal, and hardly a pipe on Windows, has more.
_COLUMNS = {
    "nll": ("NLL", 4),
    "ece": ("ECE", 5),
    "mce": ("MCE", 3),
    "brier": ("Brier", 5),
    "dsc": ("DSC", 1),
    "rms": ("RMS", 4),
    "distance": ("|p-q|", 5),
}
_WIDE, _ONLY_WIDE = 76, ("rms", "distance")


def print_demo(result: "DemoResult", files: Sequence[str], as_json: bool) -> None:
    """Print the table, two sentences, how masks were made, and the files; or JSON."""
    from gradsurge.experiments.demo.findings import sentences
    from gradsurge.experiments.demo.results_file import to_json

    for line in result.problems:
        typer.echo(f"gradsurge: problem: {' '.join(line.split())}", err=True)
    if as_json:
        typer.echo(json.dumps({**to_json(result), "files": list(files)}, indent=2))
        return
    console = Console()
    wide = console.width >= _WIDE
    table = _table(result, wide)
    if console.options.ascii_only:
        table.box = None  # Rich's own substitute is wider, and cuts numbers off
    console.print(table)
    console.print(_explanation(result, wide), style="dim", highlight=False, markup=False)
    console.print()
    for sentence in sentences(result.rows, result.correction):
        console.print(sentence, highlight=False, markup=False)
    console.print()
    typer.echo(f"Report: {files[0]}")
    beside = [str(Path(file).relative_to(result.out)) for file in files[1:]]
    typer.echo(f"Beside it: {', '.join(beside)}, runs (see gradsurge show)")


def _table(result: "DemoResult", wide: bool) -> Table:
    from gradsurge.experiments.demo.compared import CORRECTED

    title = (
        f"{result.counts[result.split]} {result.split} cases, "
        f"{result.training['steps']} steps of training each"
    )
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("model", no_wrap=True)
    rows = list(result.rows.values())
    texts = []
    for name, (heading, decimals) in _COLUMNS.items():
        values = [getattr(row, name) for row in rows]
        fits = wide or name not in _ONLY_WIDE
        if fits and any(value is not None for value in values):
            table.add_column(heading, justify="right", no_wrap=True)
            texts.append([_number(value, decimals) for value in values])
    for row, *cells in zip(rows, *texts, strict=True):
        # Below the line of the same model.
        table.add_row("  corrected" if row.name == CORRECTED else row.name, *cells)
    return table


def _number(value: float | None, decimals: int) -> str:
    return "-" if value is None or not math.isfinite(value) else f"{value:.{decimals}f}"


def _explanation(result: "DemoResult", wide: bool) -> str:
    from gradsurge.experiments.demo.compared import CORRECTED, POSTERIOR
    from gradsurge.experiments.demo.reading import abbreviations, caveats

    masks = [
        f"{row.name} {row.mask}"
        for row in result.rows.values()
        if row.name not in (CORRECTED, POSTERIOR)
    ]
    text = (
        f"{abbreviations(result)} All voxels together; DSC in %, mean over cases, of masks made "
        f"of uncorrected probabilities at the threshold that was best on the validation cases: "
        f"{'; '.join(masks)}."
    )
    if result.has_posterior and wide:
        text += (
            " RMS and |p-q|: distance of p from the true posterior q, the root of the mean of "
            "(p-q)^2 and the mean of |p-q|, which forgives calling rare things impossible."
        )
    return " ".join([text, *caveats(result)])
