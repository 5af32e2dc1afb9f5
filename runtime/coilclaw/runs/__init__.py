"""Run lifecycle."""

from typing import TYPE_CHECKING

from coilclaw.sdk.exports import lazy_exports

if TYPE_CHECKING:
    from coilclaw.bridge import (
        NoSuchRun,
        NotResumable,
        RunPage,
        RunRecord,
        count_runs,
        find_run,
        list_runs,
        runs_of_conversation,
    )
    from coilclaw.runs.breakpoint import Breakpoint, Frame, Variable
    from coilclaw.runs.cancellation import cancel_run
    from coilclaw.runs.comparison import Comparison, Difference
    from coilclaw.runs.errors import NotCancellable, NotRetryable
    from coilclaw.runs.history import has_proven_header, is_confirmed
    from coilclaw.runs.kept_end import report_of
    from coilclaw.runs.plan import ApprovedPlan, Plan, PlannedCall, PlanNotUsable, Rehearsal
    from coilclaw.runs.queue import accepted_caller, is_accepted_as_said
    from coilclaw.runs.report import RunReport, error_of
    from coilclaw.runs.runtime import Runtime
    from coilclaw.runs.schema import MIGRATIONS
    from coilclaw.runs.start import new_run_id
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "coilclaw.bridge": "NoSuchRun NotResumable RunPage RunRecord count_runs find_run list_runs "
            "runs_of_conversation",
            "breakpoint": "Breakpoint Frame Variable",
            "cancellation": "cancel_run",
            "comparison": "Comparison Difference",
            "errors": "NotCancellable NotRetryable",
            "history": "has_proven_header is_confirmed",
            "kept_end": "report_of",
            "plan": "ApprovedPlan Plan PlannedCall PlanNotUsable Rehearsal",
            "queue": "accepted_caller is_accepted_as_said",
            "report": "RunReport error_of",
            "start": "new_run_id",
            "runtime": "Runtime",
            "schema": "MIGRATIONS",
        },
    )

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
    "NotRetryable",
    "Plan",
    "PlanNotUsable",
    "PlannedCall",
    "Rehearsal",
    "RunPage",
    "RunRecord",
    "RunReport",
    "Runtime",
    "Variable",
    "accepted_caller",
    "cancel_run",
    "count_runs",
    "error_of",
    "find_run",
    "has_proven_header",
    "is_accepted_as_said",
    "is_confirmed",
    "list_runs",
    "new_run_id",
    "report_of",
    "runs_of_conversation",
]
