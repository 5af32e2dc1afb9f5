"""Run lifecycle."""

from coilclaw.runs.report import RunReport, error_of
from coilclaw.runs.runtime import Runtime

__all__ = ["RunReport", "Runtime", "error_of"]
