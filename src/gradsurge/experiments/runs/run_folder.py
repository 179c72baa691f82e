"""The folder of a run: what lies where, and whether a training may write to it."""

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from gradsurge.data.case_error import shown
from gradsurge.data.store import only_writer, replace_json
from gradsurge.experiments.runs.config import RunConfig
from gradsurge.losses.strength import strength_in
from gradsurge.training.state import FREE

CONFIG, OUTCOME, SKETCH = "config.json", "outcome.json", "validation.npz"
LOOKS, RECALIBRATION = "looks", "recalibration"
# They may differ when a run goes on: where things lie, who wrote them when, and what the training
# itself lets go.
_FREE = (
    *("store", "init", "dataset.raw", "dataset.date", "dataset.gradsurge"),
    *(f"training.{name}" for name in FREE),
)


def has_ended(folder: Path) -> bool:
    """Tell whether the run of a folder was trained to its end."""
    return (folder / OUTCOME).is_file()


def open_folder(out: Path, config: RunConfig, *, resume: bool) -> RunConfig:
    """Make the folder of a new run, or check that it is this run which goes on there.

    Args:
        out: the folder.
        config: of the run.
        resume: whether an existing run is to go on; where there is none, it begins.

    Returns:
        The configuration to train with: store and whatever else may have changed are those of now.

    Raises:
        ValueError: there is a run and ``resume`` was not said, it was another run, or something
            else lies there.
    """
    refuse_taken(out, resume=resume)
    if not (out / CONFIG).exists():
        out.mkdir(parents=True, exist_ok=True)
        replace_json(out / CONFIG, config.to_json())
        return config
    before = read_config(out)
    if config.loss == before.loss:  # what is not said stays as it was
        options = {**strength_in(before.loss_options), **config.loss_options}
        config = replace(config, loss_options=options)
    compare_configs(out, before, config)
    return replace(config, dataset=before.dataset)


def refuse_taken(out: Path, *, resume: bool) -> None:
    """Raise if a folder holds something that a training must not touch."""
    if (out / CONFIG).exists():
        if not resume:
            raise ValueError(
                f"{shown(out)}: holds a run already; add --resume to go on with it, or choose "
                f"another folder"
            )
    elif out.exists() and not all(_is_left_behind(file.name) for file in out.iterdir()):
        raise ValueError(f"{shown(out)}: is not empty and holds no run; choose another folder")


def _is_left_behind(name: str) -> bool:
    """Tell whether a file is of a training that was killed before it had a configuration."""
    return name == ".lock" or name.startswith(f".{CONFIG}.")


def read_config(folder: Path) -> RunConfig:
    """Return the configuration of a run.

    Raises:
        ValueError: the folder holds no run, or a damaged one.
    """
    file = folder / CONFIG
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
        if not isinstance(content, dict):
            raise ValueError("not the configuration of a run")
        return RunConfig.from_json(content)
    except OSError as error:
        raise ValueError(
            f"{shown(folder)}: not a run: {CONFIG}: {error.strerror or error}; make one with "
            f"gradsurge train"
        ) from error
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{shown(file)}: {' '.join(str(error).split())}") from error


def compare_configs(folder: Path, before: RunConfig, now: RunConfig) -> None:
    """Raise with the first setting that differs, its value in the run and now."""
    mine, its = (flatten(json.loads(json.dumps(c.to_json()))) for c in (now, before))
    for name in [*its, *(n for n in mine if n not in its)]:
        there, asked = its.get(name, "not set"), mine.get(name, "not set")
        if there != asked and name not in _FREE:
            raise ValueError(
                f"{shown(folder)}: {name} is {_short(there)} in this run, got {_short(asked)}; "
                f"resume with the settings it was started with, or choose another folder"
            )


def flatten(content: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    """Return nested settings as one level.

    >>> flatten({"training": {"steps": 5}, "loss": "dice"})
    {'training.steps': 5, 'loss': 'dice'}
    """
    flat: dict[str, Any] = {}
    for name, value in content.items():
        if isinstance(value, Mapping):
            flat |= flatten(value, f"{above}{name}.")
        else:
            flat[f"{above}{name}"] = value
    return flat


class FolderTaken(ValueError):
    """Another process trains or measures in the folder."""


@contextmanager
def only_trainer(folder: Path) -> Iterator[None]:
    """Keep a second training out of a folder.

    Raises:
        FolderTaken: another one is at work there.
    """
    with ExitStack() as held:
        try:
            held.enter_context(only_writer(folder))
        except ValueError as error:
            raise FolderTaken(
                f"{shown(folder)}: another gradsurge train is at work there; wait for it, or "
                f"choose another folder"
            ) from error
        yield


def _short(value: object) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
