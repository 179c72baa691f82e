"""A case of plain files: a scan, and maps and masks of any model."""

from pathlib import Path

from gradsurge.data.formats import stem_of
from gradsurge.data.volume import Volume
from gradsurge.experiments.viewing.assembling import Base, assemble
from gradsurge.experiments.viewing.case_view import CaseView, ModelView
from gradsurge.experiments.viewing.overlays import read_classes, read_maps
from gradsurge.experiments.viewing.request import ViewRequest
from gradsurge.experiments.viewing.scan import read_scan
from gradsurge.experiments.viewing.structure import Structure, structures_of_map


def view_of_files(request: ViewRequest, scan_file: Path) -> CaseView:
    """Return the case of a scan and of the maps and masks that were named with it.

    Raises:
        ValueError: they do not fit together.
        CaseError: a file cannot be read, or lies on another grid.
    """
    request.on_step(f"reading {scan_file.name}")
    scan = read_scan(scan_file, request.channel)
    case = request.case or stem_of(scan_file).removesuffix("_0000")
    count = max(len(request.maps), len(request.masks), 1)
    models = [_model(request, number, scan.grid) for number in range(count)]
    return assemble(request, Base(case, scan, scan.grid, None, ()), models)


def _model(request: ViewRequest, number: int, like: Volume) -> ModelView:
    """Return a model; without map and mask, what stands beside the label."""
    mask = read_classes(request.masks[number], like) if request.masks else None
    if not request.maps:
        alone = "Scan" if request.label is None else "Scan and label"
        name = stem_of(request.masks[number]) if request.masks else alone
        return ModelView(name, None, mask, (Structure("foreground", 0, None, None),))
    named = request.maps[number]
    maps = read_maps(named.path, like)
    facts = [("Map", named.path.name)]
    if request.masks:
        facts.append(("Mask", request.masks[number].name))
    return ModelView(named.name, maps, mask, structures_of_map(maps), tuple(facts))
