"""``gradsurge inspect``: what a store holds."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gradsurge.cli.output import mistakes_in_one_line, progress_bar

if TYPE_CHECKING:
    from gradsurge.data.store.summary import Summary


def inspect(
    store: Annotated[Path, typer.Argument(metavar="STORE", help="Folder of gradsurge prepare.")],
    cases: Annotated[bool, typer.Option("--cases", help="A line for every case too.")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Read every file and compare its checksum.")
    ] = False,
    sheet: Annotated[
        Path | None,
        typer.Option(metavar="FILE.png", help="Draw a contact sheet: slices and outlines."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print cases, shapes, spacings, foreground and splits of a store; draw a contact sheet."""
    if sheet is not None and sheet.suffix != ".png":
        raise typer.BadParameter(f"--sheet: expected a file name that ends in .png, got {sheet}")
    with progress_bar("looking", total=1) as (bar, task):
        from gradsurge.data.store import Store
        from gradsurge.data.store.summary import summarise

        with mistakes_in_one_line():
            opened = Store.open(store)
        bar.update(task, total=len(opened.cases) + 1)
        found = summarise(opened, check=check, on_case=lambda _: bar.update(task, advance=1))
        if sheet is not None:
            bar.update(task, description="drawing")
            from gradsurge.report.figures import contact_sheet

            contact_sheet.write(opened, [case.name for case in found.cases], sheet)
    if as_json:
        typer.echo(json.dumps(found.to_json(), indent=2))
    else:
        _print_facts(found)
        if cases:
            Console().print(_case_table(found))
        if check and not found.problems:
            typer.echo(f"checked: every file of {len(found.cases)} cases is as it was written")
    if sheet is not None:
        typer.echo(f"Written: {sheet}", err=as_json)
    for case, problem in found.problems:
        typer.echo(f"gradsurge: problem: {case}: {problem}", err=True)
    raise typer.Exit(1 if found.problems else 0)


def _print_facts(found: "Summary") -> None:
    facts = found.store.dataset
    classes = ", ".join(f"{number} {name}" for number, name in facts.label_names.items())
    ignored = "" if facts.ignore_label is None else f"; {facts.ignore_label} is ignored"
    title = facts.name if facts.title in ("", facts.name) else f"{facts.title} ({facts.name})"
    typer.echo(f"{title}: {len(found.cases)} cases, {facts.dimensions}D")
    typer.echo(f"channels: {', '.join(facts.channel_names)}")
    typer.echo(f"classes: {classes}{ignored}")
    for name, numbers in facts.label_sets.items():
        typer.echo(f"region {name}: {', '.join(map(str, numbers))}")
    if facts.raw is not None:
        typer.echo(f"from: {facts.raw}")
    typer.echo(f"prepared {facts.date} by gradsurge {facts.gradsurge}, split by seed {facts.seed}")
    table = _table("split", "cases", "shape", "spacing, mm", "foreground, %")
    for split in found.splits:
        least, middle, most = (f"{100 * share:.2g}" for share in split.foreground)
        table.add_row(
            Text(split.split),
            str(split.cases),
            "×".join(map(_range, split.shape[0], split.shape[2])),
            "×".join(map(_range, split.spacing[0], split.spacing[2])),
            middle if least == most else f"{middle} ({least}–{most})",
        )
    Console().print(table)
    unused = sum(case.split is None for case in found.cases)
    if unused:
        typer.echo(f"in no split: {unused}")
    empty = [case.name for case in found.cases if case.foreground == 0]
    if empty:
        listed = ", ".join(empty[:5]) + (", ..." if len(empty) > 5 else "")
        typer.echo(f"without foreground: {len(empty)} ({listed})")


def _case_table(found: "Summary") -> Table:
    names = found.store.dataset.label_names
    present = sorted({n for case in found.cases for n in case.voxels} - {0})
    classes = [f"{names.get(number, 'ignored')}, voxels" for number in present]
    table = _table("case", "split", "shape", "spacing, mm", "foreground, %", *classes)
    # Usual names stay on a line and headings are folded; one of 200 letters would leave no room.
    table.columns[0].no_wrap = max((len(case.name) for case in found.cases), default=0) <= 30
    for case in found.cases:
        table.add_row(
            Text(case.name),
            case.split or "–",
            "×".join(map(str, case.shape)),
            "×".join(f"{s:.3g}" for s in case.spacing),
            f"{100 * case.foreground:.3g}",
            *(f"{case.voxels.get(number, 0):,}" for number in present),
        )
    return table


def _table(*headings: str) -> Table:
    """Return a table that fits a narrow terminal and cuts nothing off: long names are folded."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="bold")
    for heading in headings:
        numbers = heading == "cases" or heading.endswith("voxels")
        table.add_column(
            Text(heading),
            justify="right" if numbers else "left",
            overflow="fold",
        )
    return table


def _range(least: float, most: float) -> str:
    low, high = f"{least:.3g}", f"{most:.3g}"
    return low if low == high else f"{low}–{high}"
