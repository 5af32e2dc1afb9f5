"""Policy: rules, autonomy, classification and approval."""

from typing import TYPE_CHECKING

from coilclaw.sdk.exports import lazy_exports

if TYPE_CHECKING:
    from coilclaw.policy.approval import (
        Answer,
        Approval,
        ApproveAll,
        Approver,
        NobodyToAsk,
        Question,
        denial,
        runs_facts,
    )
    from coilclaw.policy.approval_store import LONGEST_WINDOW_SECONDS, ApprovalStore, shown_hashes
    from coilclaw.policy.approval_table import APPROVALS
    from coilclaw.policy.classification import classify, judge
    from coilclaw.policy.constraints import Constraint, Problem, read_constraint
    from coilclaw.policy.decisions import CallOfTool, Window
    from coilclaw.policy.errors import AlreadyDecided, DamagedApproval, NoSuchApproval, NoSuchWindow, OtherCall
    from coilclaw.policy.estop import EmergencyStop, StopState
    from coilclaw.policy.examples import Example, problem_with_example
    from coilclaw.policy.explanation import Explanation, Opinion, Verdict
    from coilclaw.policy.policy import Autonomy, Policy
    from coilclaw.policy.rules import BadRule, Rule
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "approval": "Answer Approval ApproveAll Approver NobodyToAsk Question denial runs_facts",
            "approval_store": "LONGEST_WINDOW_SECONDS ApprovalStore shown_hashes",
            "approval_table": "APPROVALS",
            "classification": "classify judge",
            "constraints": "Constraint Problem read_constraint",
            "decisions": "CallOfTool Window",
            "errors": "AlreadyDecided DamagedApproval NoSuchApproval NoSuchWindow OtherCall",
            "estop": "EmergencyStop StopState",
            "examples": "Example problem_with_example",
            "explanation": "Explanation Opinion Verdict",
            "policy": "Autonomy Policy",
            "rules": "BadRule Rule",
        },
    )

__all__ = [
    "APPROVALS",
    "LONGEST_WINDOW_SECONDS",
    "AlreadyDecided",
    "Answer",
    "Approval",
    "ApprovalStore",
    "ApproveAll",
    "Approver",
    "Autonomy",
    "BadRule",
    "CallOfTool",
    "Constraint",
    "DamagedApproval",
    "EmergencyStop",
    "Example",
    "Explanation",
    "NoSuchApproval",
    "NoSuchWindow",
    "NobodyToAsk",
    "Opinion",
    "OtherCall",
    "Policy",
    "Problem",
    "Question",
    "Rule",
    "StopState",
    "Verdict",
    "Window",
    "classify",
    "denial",
    "judge",
    "problem_with_example",
    "read_constraint",
    "runs_facts",
    "shown_hashes",
]
