"""Run lifecycle."""

from coilclaw.runs.breakpoint import Breakpoint, Frame, Variable
from coilclaw.runs.cancellation import cancel_run
from coilclaw.runs.comparison import Comparison, Difference
from coilclaw.runs.errors import NoSuchRun, NotCancellable, NotResumable
from coilclaw.runs.plan import ApprovedPlan, Plan, PlannedCall, PlanNotUsable, Rehearsal
from coilclaw.runs.report import RunReport, error_of
from coilclaw.runs.run_origin import new_run_id
from coilclaw.runs.run_store import RunRecord, find_run
from coilclaw.runs.runtime import Runtime

__all__ = [
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
    "RunRecord",
    "RunReport",
    "Runtime",
    "Variable",
    "cancel_run",
    "error_of",
    "find_run",
    "new_run_id",
]
