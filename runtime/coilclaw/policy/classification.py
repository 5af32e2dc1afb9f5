"""The risk of one call: the contract's, or higher."""

from __future__ import annotations

import logging
from typing import Any

from coilclaw.sdk import Forbid, Risk, Tool, ToolContext

__all__ = ["classify"]

_logger = logging.getLogger(__name__)


def classify(tool: Tool, input: Any, context: ToolContext) -> Risk | Forbid:
    """Ask the tool about this input. A classifier can raise the risk or forbid; it can never lower."""
    if tool.classify is None:
        return tool.risk
    try:
        opinion = tool.classify(input, context)
        if opinion is None or isinstance(opinion, Forbid):
            return tool.risk if opinion is None else opinion
        return tool.risk.raised_to(Risk(opinion))
    except BaseException as error:
        # A classifier that fails has not said the call is safe.
        _logger.warning("classify of %s failed: %s", tool.id, type(error).__name__)
        return Forbid(reason=f"the tool could not classify this call ({type(error).__name__})")
