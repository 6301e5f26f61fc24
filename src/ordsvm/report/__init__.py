"""The report: one HTML page about a model, with interactive charts, that needs no network."""

from ordsvm.report.page import report_page

__all__ = ["report_page"]
