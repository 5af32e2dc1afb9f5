"""Errors of what is remembered.

OperatorError
├── NoSuchWorkflowRun   there is no workflow run of this id
└── WorkflowRunTaken    a workflow run that is over, or that another process carries out
"""

from __future__ import annotations

from coilclaw.sdk import OperatorError

__all__ = ["NoSuchWorkflowRun", "WorkflowRunTaken"]


class NoSuchWorkflowRun(OperatorError):
    """There is no workflow run of this id."""

    code = "no_such_workflow_run"

    def __init__(self, run_id: str) -> None:
        super().__init__(f"there is no workflow run {run_id!r}", hint="`coilclaw sop list` shows the latest runs")


class WorkflowRunTaken(OperatorError):
    """A workflow run that cannot be continued here: it is over, or another process carries it out."""

    code = "workflow_run_taken"

    def __init__(self, run_id: str, state: str) -> None:
        super().__init__(f"{run_id} cannot be resumed: it is {state}", hint="`coilclaw sop list` shows the latest runs")
