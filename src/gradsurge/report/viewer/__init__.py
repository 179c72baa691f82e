"""A case in NiiVue: as a page, as one file to send, as a widget of a notebook."""

from gradsurge.report.viewer.page import write_page
from gradsurge.report.viewer.widget import case_widget, show_case

__all__ = ["case_widget", "show_case", "write_page"]
