"""The report of an evaluation: one self-contained HTML page."""

from gradsurge.report.evaluation.page import write_report

__all__ = ["write_report"]
