"""The viewer as a widget of a notebook."""

import functools
from importlib import import_module
from pathlib import Path
from typing import Any

from gradsurge.experiments.viewing.case_view import CaseView
from gradsurge.experiments.viewing.gathering import gather
from gradsurge.experiments.viewing.request import Named, ViewRequest
from gradsurge.report.viewer.contents import contents_of
from gradsurge.report.viewer.niivue import niivue_script
from gradsurge.report.viewer.page import NIIVUE, asset, module_text, niivue_part


def show_case(
    *folders: str | Path, case: str | None = None, names: tuple[str, ...] = (), **options: Any
) -> Any:
    """Show a case in a notebook: the last line of a cell.

    Args:
        folders: one or two of ``gradsurge predict`` or ``gradsurge train``; none for plain files.
        case: its name; the first one if left out.
        names: of the models; those of the folders if left out.
        options: further fields of `ViewRequest`: ``scan``, ``label``, ``maps``, ``masks``, ...

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
    if names and len(names) != len(folders):
        raise ValueError(f"names: expected one for each of {len(folders)} folders, got {names!r}")
    chosen = names or tuple(Path(folder).resolve().name for folder in folders)
    named = tuple(Named(name, Path(f)) for name, f in zip(chosen, folders, strict=True))
    return case_widget(gather(ViewRequest(named, case, **options)))


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
