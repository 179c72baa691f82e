"""Tables of results as Markdown, LaTeX, CSV, HTML and plain text.

The data classes live in `gradsurge.experiments.result_table`, so that experiments, which may not
import reports, can build them.
"""

from gradsurge.experiments.result_table import Cell, Column, ResultTable, TableBlock, TableRow
from gradsurge.report.tables.as_published import as_published
from gradsurge.report.tables.files import write_table
from gradsurge.report.tables.html_page import to_html, to_html_fragment
from gradsurge.report.tables.latex import to_latex
from gradsurge.report.tables.markdown import to_markdown
from gradsurge.report.tables.plain_text import to_text
from gradsurge.report.tables.tidy_csv import tidy_rows, to_csv

__all__ = [
    "Cell",
    "Column",
    "ResultTable",
    "TableBlock",
    "TableRow",
    "as_published",
    "tidy_rows",
    "to_csv",
    "to_html",
    "to_html_fragment",
    "to_latex",
    "to_markdown",
    "to_text",
    "write_table",
]
