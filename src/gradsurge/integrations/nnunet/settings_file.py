"""The settings of a training beside its checkpoints, so that resuming needs no environment."""

import json
from pathlib import Path
from typing import Any

import gradsurge
from gradsurge.experiments.whole_file import write_whole
from gradsurge.integrations.nnunet.settings import TrainerSettings

NAME = "gradsurge.json"


def write_settings(folder: str | Path, settings: TrainerSettings) -> None:
    """Write the settings, and whose they are, into the folder of a fold."""
    content = {"gradsurge": gradsurge.__version__, "settings": settings.to_json()}
    write_whole(Path(folder, NAME), f"{json.dumps(content, indent=1)}\n".encode())


def read_settings(folder: str | Path) -> dict[str, Any]:
    """Return the settings of a training; none if another trainer left the checkpoint there.

    Raises:
        ValueError: the file is damaged.
    """
    file = Path(folder, NAME)
    if not file.exists():
        return {}
    try:
        found = json.loads(file.read_text(encoding="utf-8"))["settings"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(
            f"{file}: damaged ({error}); remove it to begin with new settings"
        ) from error
    if not isinstance(found, dict):
        raise ValueError(f"{file}: expected an object as 'settings', got {type(found).__name__}")
    return found
