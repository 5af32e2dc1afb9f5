"""What a tool author imports."""

from typing import TYPE_CHECKING

from coilclaw.sdk.exports import lazy_exports

if TYPE_CHECKING:
    from coilclaw.sdk.bounds import Bounds
    from coilclaw.sdk.context import ToolContext
    from coilclaw.sdk.contract import Classifier, Handler, Tool
    from coilclaw.sdk.define import define_tool
    from coilclaw.sdk.diagnostics import Diagnostic, Quarantined
    from coilclaw.sdk.errors import (
        CoilClawError,
        EvidenceUnavailable,
        OperatorError,
        ToolDefinitionError,
        ToolFailure,
    )
    from coilclaw.sdk.network import Destination, Network
    from coilclaw.sdk.records import (
        ActivityItem,
        Receipt,
        RelevantToolActivity,
        Run,
        RunStatus,
    )
    from coilclaw.sdk.result import Err, Ok, Result, ToolCallError
    from coilclaw.sdk.risk import LONGEST_RUNS, Decision, Forbid, Judged, Raised, Risk, RiskName
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "bounds": "Bounds",
            "context": "ToolContext",
            "contract": "Classifier Handler Tool",
            "define": "define_tool",
            "diagnostics": "Diagnostic Quarantined",
            "errors": "CoilClawError EvidenceUnavailable OperatorError ToolDefinitionError ToolFailure",
            "network": "Destination Network",
            "records": "ActivityItem Receipt RelevantToolActivity Run RunStatus",
            "result": "Err Ok Result ToolCallError",
            "risk": "LONGEST_RUNS Decision Forbid Judged Raised Risk RiskName",
        },
    )

__all__ = [
    "LONGEST_RUNS",
    "ActivityItem",
    "Bounds",
    "Classifier",
    "CoilClawError",
    "Decision",
    "Destination",
    "Diagnostic",
    "Err",
    "EvidenceUnavailable",
    "Forbid",
    "Handler",
    "Judged",
    "Network",
    "Ok",
    "OperatorError",
    "Quarantined",
    "Raised",
    "Receipt",
    "RelevantToolActivity",
    "Result",
    "Risk",
    "RiskName",
    "Run",
    "RunStatus",
    "Tool",
    "ToolCallError",
    "ToolContext",
    "ToolDefinitionError",
    "ToolFailure",
    "define_tool",
]
