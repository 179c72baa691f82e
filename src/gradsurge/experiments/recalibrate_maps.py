"""A recalibration applied to folders of prediction files, file by file."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from gradsurge.calibration.recalibration import Recalibration
from gradsurge.data import check_logits, check_probabilities
from gradsurge.data.case_error import shown
from gradsurge.data.case_files import check_files
from gradsurge.data.channel_runs import find_unlabelled
from gradsurge.data.map_writing import write_map
from gradsurge.data.maps import read_channel_maps, read_map
from gradsurge.experiments.workers import WorkerError, each_in_order


@dataclass(frozen=True)
class MapTask:
    """The file of a case, or its files, one a channel."""

    case: str
    files: tuple[Path, ...]


@dataclass(frozen=True)
class MapSettings:
    """What holds for all files of a folder.

    Attributes:
        recalibration: to apply.
        out: folder for the results.
        logits: whether the files hold logits.
        has_channels: as in `read_map`.
    """

    recalibration: Recalibration
    out: Path
    logits: bool = False
    has_channels: bool | None = None


@dataclass
class FolderResult:
    """How many cases there were and were written, how many of several files, and the faults."""

    cases: int
    in_channels: int
    written: int = 0
    problems: list[str] = field(default_factory=list)


def recalibrate_folder(
    predictions: Path,
    settings: MapSettings,
    *,
    jobs: int = 1,
    overwrite: bool = False,
    on_tasks: Callable[[int], object] = lambda _: None,
    on_case: Callable[[str], object] = lambda _: None,
) -> FolderResult:
    """Write the recalibrated maps of all cases of a folder; faults of cases do not end the run.

    Raises:
        ValueError: the folder holds nothing that can be read, or a result is there already.
    """
    tasks = find_maps(predictions, settings.recalibration)
    there = [f.name for t in tasks for f in t.files if (settings.out / f.name).exists()]
    if there and not overwrite:
        raise ValueError(
            f"{shown(settings.out / there[0])} is there already; --overwrite replaces it"
        )
    settings.out.mkdir(parents=True, exist_ok=True)
    on_tasks(len(tasks))
    result = FolderResult(len(tasks), sum(len(task.files) > 1 for task in tasks))
    try:
        for case, problem in each_in_order(partial(recalibrate_case, settings), tasks, jobs):
            result.written += problem is None
            result.problems += [] if problem is None else [f"{case}: {problem}"]
            on_case(case)
    except WorkerError as error:
        result.problems.append(str(error))
    return result


def find_maps(folder: Path, recalibration: Recalibration) -> list[MapTask]:
    """Return the cases of a folder of predictions.

    Raises:
        ValueError: the folder is missing or holds nothing that can be read.
    """
    several = [n for n in _channel_counts(recalibration) if n > 1]
    return [MapTask(case, files) for case, files in find_unlabelled(folder, several).items()]


def recalibrate_case(settings: MapSettings, task: MapTask) -> tuple[str, str | None]:
    """Write the recalibrated probabilities of a case under the names of its files.

    Returns:
        The case, and what went wrong with it, if anything.
    """
    try:
        check_files(task.files, task.case)
        _recalibrate(settings, task.files)
    except (ValueError, OSError) as error:
        return task.case, str(error)
    except (MemoryError, RuntimeError) as error:
        if isinstance(error, RuntimeError) and "allocate memory" not in str(error):  # torch's own
            raise
        return task.case, "out of memory; try fewer workers, or crop the case"
    return task.case, None


def _recalibrate(settings: MapSettings, files: tuple[Path, ...]) -> None:
    recalibration, stored = settings.recalibration, None
    if len(files) == 1:
        stored = read_map(files[0], _channel_counts(recalibration), settings.has_channels)
    volume = read_channel_maps(files) if stored is None else stored.volume
    exclusive = recalibration.kind != "multilabel"
    if settings.logits:
        check_logits(volume)
        found = recalibration.apply_logits(volume.array, 0)
    else:
        values = check_probabilities(volume.array, exclusive, volume.step)
        found = recalibration.apply_probabilities(values, 0)
    found = check_probabilities(found, exclusive)
    parts = list(found) if stored is None else [stored.as_stored(found)]
    for file, part in zip(files, parts, strict=True):
        write_map(part, file, settings.out / file.name)


def _channel_counts(recalibration: Recalibration) -> tuple[int, ...]:
    return (1, 2) if recalibration.kind == "binary" else (recalibration.classes,)
