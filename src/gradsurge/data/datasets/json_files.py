"""JSON that comes with a data set."""

import json
from pathlib import Path
from typing import Any

from gradsurge.data.case_error import printable, shown


def read_json(file: Path, kind: type[Any]) -> Any:
    """Return what the file holds, an object (dict) or a list.

    Raises:
        ValueError: it cannot be read, is no JSON, or holds something else.
    """
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"{shown(file)}: cannot be read ({error.strerror or error})") from error
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{shown(file)}: is not JSON ({printable(str(error))})") from error
    if not isinstance(content, kind):
        raise ValueError(
            f"{shown(file)}: expected a JSON {'object' if kind is dict else 'list'}, got "
            f"{type(content).__name__}"
        )
    return content
