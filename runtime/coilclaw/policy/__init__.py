"""Policy: rules, autonomy, classification and approval."""

from coilclaw.policy.approval import Answer, ApproveAll, Approver, NobodyToAsk, Question
from coilclaw.policy.approvals import APPROVALS, Approval, ApprovalBook, Grant
from coilclaw.policy.classification import classify
from coilclaw.policy.errors import AlreadyDecided, NoSuchApproval
from coilclaw.policy.policy import Autonomy, Policy, Verdict
from coilclaw.policy.rules import Rule

__all__ = [
    "APPROVALS",
    "AlreadyDecided",
    "Answer",
    "Approval",
    "ApprovalBook",
    "ApproveAll",
    "Approver",
    "Autonomy",
    "Grant",
    "NoSuchApproval",
    "NobodyToAsk",
    "Policy",
    "Question",
    "Rule",
    "Verdict",
    "classify",
]
