"""Writing a table in every format."""

import re
from pathlib import Path

from gradsurge.experiments.result_table import ResultTable
from gradsurge.experiments.whole_file import write_whole
from gradsurge.report.tables.html_page import to_html
from gradsurge.report.tables.latex import to_latex
from gradsurge.report.tables.markdown import to_markdown
from gradsurge.report.tables.tidy_csv import to_csv

FORMATS = {"md": to_markdown, "tex": to_latex, "csv": to_csv, "html": to_html}
_STEM = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")


def write_table(table: ResultTable, folder: Path) -> list[Path]:
    """Write ``<name>.md``, ``.tex``, ``.csv`` and ``.html``; a reader never sees half of a file.

    Args:
        table: its name is the stem of the files.
        folder: made if it is not there.

    Returns:
        The files.

    Raises:
        ValueError: the name cannot be a file's.
    """
    if not _STEM.fullmatch(table.name):
        raise ValueError(
            f"table name: expected letters, digits and . _ + - (it names the files), "
            f"got {table.name!r}"
        )
    made = []
    for suffix, write in FORMATS.items():
        file = folder / f"{table.name}.{suffix}"
        # Names that are not UTF-8 reach us as lone surrogates, which cannot be written.
        write_whole(file, write(table).encode("utf-8", errors="replace"))
        made.append(file)
    return made
