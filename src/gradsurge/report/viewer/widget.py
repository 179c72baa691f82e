"""The viewer as a widget of a notebook."""

import functools
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from gradsurge.data.formats import stem_of
from gradsurge.experiments.viewing.case_view import CaseView
from gradsurge.experiments.viewing.gathering import gather
from gradsurge.experiments.viewing.request import Named, ViewRequest
from gradsurge.report.viewer.contents import contents_of
from gradsurge.report.viewer.niivue import niivue_script
from gradsurge.report.viewer.page import NIIVUE, asset, module_text, niivue_part


def show_case(
    *folders: str | Path,
    case: str | None = None,
    names: Sequence[str] = (),
    scan: str | Path | None = None,
    label: str | Path | None = None,
    maps: Sequence[str | Path] = (),
    masks: Sequence[str | Path] = (),
    channel: int | None = None,
    structures: Sequence[str] = (),
) -> Any:
    """Show a case in a notebook: the last line of a cell.

    Args:
        folders: one or two of ``gradsurge predict`` or ``gradsurge train``; none for plain files.
        case: its name; the first one if left out.
        names: of the models; those of the folders or maps if left out.
        scan: file of the image, if it is not the one that was predicted; of plain files always.
        label: file, or folder with a file named after the case.
        maps: files of probabilities on the scan's grid, one a model, without folders.
        masks: files of masks, one for each of ``maps``.
        channel: of the scan; the first one, or the colours of a picture, if left out.
        structures: names of those to show; all if left out.

    Returns:
        The widget. Its ``threshold``, ``structure`` and ``cursor`` (a voxel of the scan's array)
        follow what is done on the screen, and may be set.

    Raises:
        ValueError: there is no such case, or ipyniivue is missing.

    Example::

        from gradsurge.report.viewer import show_case

        view = show_case("predictions/dice", "predictions/dice-surgery", case="case_10")
        view
    """
    files = _listed(maps)
    own = [Path(folder).resolve().name for folder in folders]
    request = ViewRequest(
        folders=_named(() if files else names, folders, own),
        case=case,
        scan=None if scan is None else Path(scan),
        label=None if label is None else Path(label),
        maps=_named(names if files else (), files, [stem_of(Path(f)) for f in files]),
        masks=tuple(map(Path, _listed(masks))),
        channel=channel,
        structures=(structures,) if isinstance(structures, str) else tuple(structures),
    )
    return case_widget(gather(request))


def _listed(files: str | Path | Sequence[str | Path]) -> list[str | Path]:
    return [files] if isinstance(files, str | Path) else list(files)


def _named(
    names: Sequence[str], places: Sequence[str | Path], own: Sequence[str]
) -> tuple[Named, ...]:
    """Return places by the names that were given, or else by their own."""
    chosen = [names] if isinstance(names, str) else list(names) or list(own)
    if len(chosen) != len(places):
        raise ValueError(f"names: expected one for each of {len(places)} models, got {chosen!r}")
    return tuple(Named(name, Path(place)) for name, place in zip(chosen, places, strict=True))


def case_widget(view: CaseView) -> Any:
    """Return a gathered case as a widget.

    Raises:
        ValueError: ipyniivue is missing.
    """
    script = niivue_script()
    contents = contents_of(view)
    description = {**contents.description, "made": script.version}
    return _widget_class()(
        description=description,
        parts={**contents.parts, NIIVUE: niivue_part()},
        threshold=description["opening"]["threshold"],
        structure=view.structures[0].name,
    )


@functools.cache
def _widget_class() -> type[Any]:
    """Return the class of the widget, made when it is needed: anywidget comes with ipyniivue.

    Its traits: ``threshold``, below which probabilities are not shown, 0.01 to 1; ``structure``,
    the name of the one that is shown; ``cursor``, a voxel of the scan's array.
    """
    anywidget, traitlets = import_module("anywidget"), import_module("traitlets")

    def known(widget: Any, proposal: Any) -> str:
        names = [one["name"] for one in widget.description["structures"]]
        if proposal["value"] not in names:
            raise traitlets.TraitError(
                f"structure: expected one of {', '.join(names)}, got {proposal['value']!r}"
            )
        return str(proposal["value"])

    traits = {
        "description": traitlets.Dict(),
        "parts": traitlets.Dict(),
        "threshold": traitlets.Float(0.05, min=0.01, max=1.0),
        "structure": traitlets.Unicode(),
        "cursor": traitlets.List(traitlets.Int()),
    }
    synced = {name: trait.tag(sync=True) for name, trait in traits.items()}
    text = {"_esm": module_text("notebook"), "_css": asset("viewer.css")}
    check = traitlets.validate("structure")(known)
    return type("CaseWidget", (anywidget.AnyWidget,), {**text, **synced, "_known": check})
