"""Policy: rules, autonomy, classification and approval."""

from coilclaw.policy.approval import Answer, ApproveAll, Approver, NobodyToAsk, Question
from coilclaw.policy.classification import classify
from coilclaw.policy.policy import Autonomy, Policy, Verdict
from coilclaw.policy.rules import Rule

__all__ = [
    "Answer",
    "ApproveAll",
    "Approver",
    "Autonomy",
    "NobodyToAsk",
    "Policy",
    "Question",
    "Rule",
    "Verdict",
    "classify",
]
