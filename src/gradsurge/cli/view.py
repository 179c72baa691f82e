"""``gradsurge view``: scan, label, mask and probabilities of a case, to look at."""

from pathlib import Path
from typing import Annotated

import typer

from gradsurge.cli.view_options import check_html, parse_maps, parse_places
from gradsurge.cli.view_work import View, show_view


def view(
    places: Annotated[
        list[str],
        typer.Argument(
            metavar="[NAME=]CASE_OR_RUN...",
            help="A folder of gradsurge predict or of gradsurge train, or two of them side by "
            "side; or a scan (NIfTI, picture, DICOM folder) for --map.",
        ),
    ],
    case: Annotated[
        str | None, typer.Option(help="Name of the case; the first one if left out.")
    ] = None,
    probabilities: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="[NAME=]FILE",
            help="Probabilities on the scan's grid, of any model. Twice for two models.",
        ),
    ] = None,
    mask: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="Mask of each --map, in their order.")
    ] = None,
    label: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Label, or folder of labels; found where it is known."),
    ] = None,
    scan: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Scan, where predictions do not tell; a run predicts it."
        ),
    ] = None,
    channel: Annotated[
        int | None, typer.Option(help="Of the scan, from 0; colours or the first if left out.")
    ] = None,
    structure: Annotated[
        list[str] | None, typer.Option(help="Show these only; repeatable. All if left out.")
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write one self-contained HTML file to send, instead of a local page.",
            callback=check_html,
        ),
    ] = None,
    port: Annotated[
        int, typer.Option(help="Of the local page; 0 for a free one.", min=0, max=65535)
    ] = 0,
    no_open: Annotated[
        bool, typer.Option("--no-open", help="Print the address, open no browser.")
    ] = False,
) -> None:
    """Look at a case: probabilities over the scan, outlines of label and mask, one or two models.

    gradsurge view predictions --case case_10

    gradsurge view dice=predictions/dice surgery=predictions/surgery --case case_10

    gradsurge view runs/dice-surgery --scan patient.nii.gz

    gradsurge view patient.nii.gz --map p.nii.gz --label label.nii.gz --html patient.html

    The page is served to this machine alone (127.0.0.1), behind a token, until Ctrl-C. Nothing is
    fetched from the network. Needs the extra "view", which brings ipyniivue.
    """
    folders, plain = parse_places(places, scan)
    request = {
        "folders": folders,
        "case": case,
        "scan": plain,
        "label": label,
        "maps": parse_maps(probabilities or []),
        "masks": tuple(mask or []),
        "channel": channel,
        "structures": tuple(structure or []),
    }
    show_view(View(request, html, port, not no_open))
