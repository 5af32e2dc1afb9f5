"""SOPs: files of a workspace whose steps are carried out in order; a run survives any end of its process."""

from typing import TYPE_CHECKING

from coilclaw.sdk.exports import lazy_exports

if TYPE_CHECKING:
    from coilclaw.agent.sop.agent_answers import AgentAnswers
    from coilclaw.agent.sop.definition import AgentStep, ApprovalStep, Sop, Step, ToolStep, read_sop
    from coilclaw.agent.sop.errors import InvalidSop, NoSuchSop
    from coilclaw.agent.sop.folder import read_sop_file, sop_names, sop_path
    from coilclaw.agent.sop.report import Answered, Cancelled, Failed, Outcome, SopReport, StepReport, Unknown, Waiting
    from coilclaw.agent.sop.runner import Answers, SopRunner
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "agent_answers": "AgentAnswers",
            "definition": "AgentStep ApprovalStep Sop Step ToolStep read_sop",
            "errors": "InvalidSop NoSuchSop",
            "folder": "read_sop_file sop_names sop_path",
            "report": "Answered Cancelled Failed Outcome SopReport StepReport Unknown Waiting",
            "runner": "Answers SopRunner",
        },
    )

__all__ = [
    "AgentAnswers",
    "AgentStep",
    "Answered",
    "Answers",
    "ApprovalStep",
    "Cancelled",
    "Failed",
    "InvalidSop",
    "NoSuchSop",
    "Outcome",
    "Sop",
    "SopReport",
    "SopRunner",
    "Step",
    "StepReport",
    "ToolStep",
    "Unknown",
    "Waiting",
    "read_sop",
    "read_sop_file",
    "sop_names",
    "sop_path",
]
