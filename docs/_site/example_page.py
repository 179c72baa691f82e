"""The page of examples: what changes between before and after, taken from the files themselves."""

import difflib
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

_ROOT = Path(__file__).parents[2]
_PAGE = "examples.md"
_INTRODUCTION = """\
# Before and after

The same training twice: as it was, and with surgery. What is red goes, what is green comes. All
of them train a tiny network on phantoms, on a CPU and within seconds, and print the calibration of
other cases; they are in the repository's folder `examples`, and run in our tests.
"""


def on_files(files: Files, *, config: Any) -> Files:
    """Add the page."""
    folders = sorted(path for path in (_ROOT / "examples").iterdir() if path.is_dir())
    sections = [_section(folder) for folder in folders if list(folder.glob("after.*"))]
    content = "\n".join([_INTRODUCTION, *sections])
    files.append(File.generated(config, _PAGE, content=content))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Lead links to the repository's examples to the page."""
    markdown = re.sub(r"\]\(\.\./examples/README\.md\)", f"]({_PAGE})", markdown)
    return re.sub(r"\]\(\.\./examples/(\w+)/[^)]*\)", rf"]({_PAGE}#\1)", markdown)


def _section(folder: Path) -> str:
    (before,), (after,) = folder.glob("before.*"), folder.glob("after.*")
    old, new = before.read_text(), after.read_text()
    changed = difflib.unified_diff(
        old.splitlines(), new.splitlines(), before.name, after.name, n=2, lineterm=""
    )
    language = "yaml" if after.suffix == ".yaml" else "python"
    whole = "\n".join(f"    {line}".rstrip() for line in new.splitlines())
    return "\n".join(
        [
            f"## {folder.name}\n",
            "```diff",
            *changed,
            "```\n",
            f'??? note "All of examples/{folder.name}/{after.name}"\n',
            f"    ```{language}\n{whole}\n    ```\n",
        ]
    )
