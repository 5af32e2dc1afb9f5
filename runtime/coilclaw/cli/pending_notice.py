"""The notice of a run that waits for approvals."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from coilclaw.cli.terminal import say
from coilclaw.sdk import Risk
from coilclaw.sdk.legible import as_name, one_line

if TYPE_CHECKING:
    from coilclaw.app import ApprovalRequest

__all__ = ["short_arguments", "shown_risk", "tell_pending"]

_LONGEST_SHORT: Final = 300
"""Characters of a reason or of arguments in a notice. `approval show` has them whole."""


def shown_risk(risk: str) -> str:
    try:
        return f"{risk} ({Risk(risk).level})"
    except ValueError:
        return one_line(risk)


def tell_pending(pending: Iterable[ApprovalRequest], run_id: str, options: str) -> None:
    """Say on stderr what a run waits for, and which commands go on with it."""
    for each in pending:
        name = as_name(each.id)
        say(err=True)
        say(f"Waiting for approval: {name}", err=True, bold=True)
        say(f"  Tool:    {as_name(each.tool)}", err=True)
        say(f"  Risk:    {shown_risk(each.risk)}", err=True)
        say(f"  Reason:  {one_line(each.reason, _LONGEST_SHORT)}", err=True)
        say(f"  Args:    {short_arguments(each.arguments)}", err=True)
        if each.runs is not None:
            say(f"  Runs:    {one_line(each.runs, _LONGEST_SHORT)}", err=True)
        say(f"  Look:    coilclaw approval show {name}", err=True)
        say(f"  Approve: coilclaw approval approve {name} --resume{options}", err=True)
    say(f"Once everything is decided: coilclaw resume {as_name(run_id)}{options}", err=True)


def short_arguments(arguments: Any) -> str:
    """Return arguments as JSON on one line; what does not fit is counted."""
    return one_line(json.dumps(arguments, ensure_ascii=False), _LONGEST_SHORT)
