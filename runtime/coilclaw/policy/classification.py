"""The risk of one call: the contract's, or higher."""

from __future__ import annotations

import logging
from typing import Any, Final

from coilclaw.sdk import Forbid, Judged, Raised, Risk, Tool, ToolContext
from coilclaw.sdk.legible import kind_of, text_of

__all__ = ["classify", "judge"]

_logger = logging.getLogger(__name__)

_LONGEST_REASON: Final = 1000


def classify(tool: Tool, input: Any, context: ToolContext) -> Risk | Forbid:
    """The risk of this call, or that it is forbidden."""
    opinion = judge(tool, input, context)
    return Risk(opinion.risk) if isinstance(opinion, Judged | Raised) else opinion


def judge(tool: Tool, input: Any, context: ToolContext) -> Risk | Raised | Judged | Forbid:
    """Ask the tool about this input. A classifier can raise the risk or forbid; it can never lower."""
    if tool.classify is None:
        return tool.risk
    try:
        opinion = tool.classify(input, context)
        if opinion is None:
            return tool.risk
        if isinstance(opinion, Forbid):
            return Forbid(reason=text_of(opinion.reason, _LONGEST_REASON), hint=text_of(opinion.hint, _LONGEST_REASON))
        if isinstance(opinion, Raised):
            risk = tool.risk.raised_to(Risk(opinion.risk))
            return risk if risk is tool.risk else Raised(risk=risk, reason=text_of(opinion.reason, _LONGEST_REASON))
        if isinstance(opinion, Judged):
            # Made anew, of plain text: what an author's object says now, it says for good.
            risk = tool.risk.raised_to(Risk(opinion.risk))
            return Judged(risk=risk, runs=str.__str__(opinion.runs))
        return tool.risk.raised_to(Risk(opinion))
    except BaseException as error:
        # A classifier that fails has not said the call is safe.
        _logger.warning("classify of %s failed: %s", tool.id, kind_of(error))
        return Forbid(reason=f"the tool could not classify this call ({kind_of(error)})")
