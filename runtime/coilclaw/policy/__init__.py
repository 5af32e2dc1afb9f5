"""Policy: rules, autonomy, classification and approval."""

from coilclaw.policy.approval import Answer, ApproveAll, Approver, NobodyToAsk, Question
from coilclaw.policy.approvals import APPROVALS, LONGEST_WINDOW_SECONDS, Approval, ApprovalBook, denial, runs_facts
from coilclaw.policy.classification import classify, judge
from coilclaw.policy.constraints import Constraint, Problem, read_constraint
from coilclaw.policy.decisions import CallOfTool, Grant
from coilclaw.policy.errors import AlreadyDecided, NoSuchApproval, NoSuchWindow
from coilclaw.policy.estop import EmergencyStop, Stop
from coilclaw.policy.examples import Example, problem_with_example
from coilclaw.policy.explanation import Explanation, Opinion, Verdict
from coilclaw.policy.policy import Autonomy, Policy
from coilclaw.policy.rules import BadRule, Rule

__all__ = [
    "APPROVALS",
    "LONGEST_WINDOW_SECONDS",
    "AlreadyDecided",
    "Answer",
    "Approval",
    "ApprovalBook",
    "ApproveAll",
    "Approver",
    "Autonomy",
    "BadRule",
    "CallOfTool",
    "Constraint",
    "EmergencyStop",
    "Example",
    "Explanation",
    "Grant",
    "NoSuchApproval",
    "NoSuchWindow",
    "NobodyToAsk",
    "Opinion",
    "Policy",
    "Problem",
    "Question",
    "Rule",
    "Stop",
    "Verdict",
    "classify",
    "denial",
    "judge",
    "problem_with_example",
    "read_constraint",
    "runs_facts",
]
