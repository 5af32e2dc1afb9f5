"""Run lifecycle."""

from coilclaw.runs.cancellation import cancel_run
from coilclaw.runs.comparison import Comparison, Difference
from coilclaw.runs.errors import NoSuchRun, NotCancellable, NotResumable
from coilclaw.runs.header import Standing, standing
from coilclaw.runs.plan import ApprovedPlan, Plan, PlannedCall, PlanNotUsable, Rehearsal
from coilclaw.runs.report import RunReport, error_of
from coilclaw.runs.runtime import Runtime
from coilclaw.runs.stop import Frame, Stop, Variable

__all__ = [
    "ApprovedPlan",
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
    "RunReport",
    "Runtime",
    "Standing",
    "Stop",
    "Variable",
    "cancel_run",
    "error_of",
    "standing",
]
