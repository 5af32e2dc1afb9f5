"""Run lifecycle."""

from coilclaw.runs.errors import NoSuchRun, NotResumable
from coilclaw.runs.header import Standing, standing
from coilclaw.runs.report import RunReport, error_of
from coilclaw.runs.runtime import Runtime

__all__ = ["NoSuchRun", "NotResumable", "RunReport", "Runtime", "Standing", "error_of", "standing"]
