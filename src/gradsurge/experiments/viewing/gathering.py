"""From what was asked to a case with all that is shown of it."""

import tempfile
from dataclasses import dataclass
from pathlib import Path

from gradsurge.data.case_error import shown
from gradsurge.data.labels import read_label
from gradsurge.data.volume import Volume
from gradsurge.experiments.prediction.input_cases import is_store
from gradsurge.experiments.viewing.assembling import Base, assemble
from gradsurge.experiments.viewing.case_view import CaseView, ModelView
from gradsurge.experiments.viewing.overlays import read_classes, read_maps
from gradsurge.experiments.viewing.plain_view import view_of_files
from gradsurge.experiments.viewing.prediction_folder import (
    PredictionFolder,
    is_prediction_folder,
    open_predictions,
)
from gradsurge.experiments.viewing.request import Named, ViewRequest
from gradsurge.experiments.viewing.run_prediction import is_run, predict_case
from gradsurge.experiments.viewing.scan import read_scan
from gradsurge.experiments.viewing.source_files import Found, find_sources


@dataclass(frozen=True)
class _Predicted:
    """A model's prediction of the case."""

    name: str
    folder: PredictionFolder
    case: str


def gather(request: ViewRequest) -> CaseView:
    """Return the case that was asked for, everything on the grid of its scan.

    Raises:
        ValueError: what was asked for is not there, or does not fit together.
        CaseError: a file cannot be read, or lies on another grid.
    """
    if not request.folders and request.scan is not None:
        return view_of_files(request, request.scan)
    with tempfile.TemporaryDirectory(prefix="gradsurge-view-") as room:
        predicted: list[_Predicted] = []
        for number, model in enumerate(request.folders):
            # The second model shows the case that the first one chose.
            case = predicted[0].case if predicted else request.case
            predicted.append(_predicted(model, case, request, Path(room) / str(number)))
        return _of_predictions(request, predicted)


def _predicted(model: Named, case: str | None, request: ViewRequest, room: Path) -> _Predicted:
    if is_prediction_folder(model.path):
        folder = open_predictions(model.path)
        return _Predicted(model.name, folder, folder.case_named(case))
    if is_run(model.path):
        request.on_step(f"predicting with {model.name}")
        room.mkdir()
        case = predict_case(model.path, room, case, request.scan)
        return _Predicted(model.name, open_predictions(room), case)
    if is_store(model.path):
        raise ValueError(
            f"{shown(model.path)}: is a store, without any model; view a run that was trained on "
            f"it, or a folder of predictions"
        )
    raise ValueError(
        f"{shown(model.path)}: holds neither predictions.json nor a run; expected a folder of "
        f"gradsurge predict or gradsurge train. Other maps: gradsurge view SCAN --map MAP"
    )


def _of_predictions(request: ViewRequest, predicted: list[_Predicted]) -> CaseView:
    first = predicted[0]
    request.on_step(f"reading {first.case}")
    found = _sources(request, first)
    scan = found.scan
    like = scan.grid if scan is not None else read_label(_file(first, "mask"))
    models = [_model(one, like) for one in predicted]
    notes = (found.note,) if found.note else ()
    return assemble(request, Base(first.case, scan, like, found.label, notes), models)


def _sources(request: ViewRequest, first: _Predicted) -> Found:
    if request.scan is None:
        return find_sources(first.folder, first.case, request.channel)
    own_label = first.folder.files[first.case].get("label")
    return Found(read_scan(request.scan, request.channel), own_label)


def _model(one: _Predicted, like: Volume) -> ModelView:
    maps = read_maps(_file(one, "probabilities"), like)
    mask = read_classes(_file(one, "mask"), like)
    return ModelView(one.name, maps, mask, one.folder.structures, tuple(one.folder.facts()))


def _file(one: _Predicted, role: str) -> Path:
    files = one.folder.files[one.case]
    if role not in files:
        raise ValueError(
            f"{shown(one.folder.folder)}: predictions.json names no {role} of {one.case}; "
            f"predict anew"
        )
    return files[role]
