"""Run lifecycle."""

from coilclaw.bridge import NoSuchRun, NotResumable, RunPage, RunRecord, find_run, list_runs
from coilclaw.runs.breakpoint import Breakpoint, Frame, Variable
from coilclaw.runs.cancellation import cancel_run
from coilclaw.runs.comparison import Comparison, Difference
from coilclaw.runs.errors import NotCancellable
from coilclaw.runs.kept_end import report_of
from coilclaw.runs.plan import ApprovedPlan, Plan, PlannedCall, PlanNotUsable, Rehearsal
from coilclaw.runs.report import RunReport, error_of
from coilclaw.runs.run_origin import new_run_id
from coilclaw.runs.runtime import Runtime
from coilclaw.runs.schema import MIGRATIONS

__all__ = [
    "MIGRATIONS",
    "ApprovedPlan",
    "Breakpoint",
    "Comparison",
    "Difference",
    "Frame",
    "NoSuchRun",
    "NotCancellable",
    "NotResumable",
    "Plan",
    "PlanNotUsable",
    "PlannedCall",
    "Rehearsal",
    "RunPage",
    "RunRecord",
    "RunReport",
    "Runtime",
    "Variable",
    "cancel_run",
    "error_of",
    "find_run",
    "list_runs",
    "new_run_id",
    "report_of",
]
